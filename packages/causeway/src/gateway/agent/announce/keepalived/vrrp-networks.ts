import type { z } from 'zod';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { VrrpFilter } from '@causeway/nftables/compile/virtual-service';
import type { networkSettings } from '../settings.ts';
import type { keepalivedFields } from './settings.ts';

/** A network of the gateway and its VRRP parameters there. */
export interface VrrpNetwork {
  readonly name: 'external' | 'internal';
  readonly interface: string;
  readonly families: readonly VrrpFamily[];
}

export interface VrrpFamily {
  readonly family: Family;
  readonly virtualRouterId: number;
  /** This gateway's own address in the network, and the source of its adverts. */
  readonly source: Address;
  /** The other gateways' own addresses. Adverts are sent to them and accepted only from them. */
  readonly peers: readonly Address[];
  /**
   * The only address in adverts. It never changes, because a gateway ignores adverts with other addresses
   * than its own configuration has. With a served address here, every change would cause two masters until
   * the last gateway has applied it.
   */
  readonly anchor: Address;
  /** Addresses beside the anchor that move with it and belong to no frontend, such as the nodes' route. */
  readonly routes: readonly Address[];
}

export interface KeepalivedSettings {
  /** The gateway's name, for keepalived's log. */
  readonly name: string;
  readonly networks: readonly VrrpNetwork[];
  readonly priority: number;
  readonly advertIntervalMs: number;
  /** Seconds after a failover until the addresses are announced again. Later, ten times this interval. */
  readonly announceAgainSeconds: number;
  readonly files: KeepalivedFiles;
}

export interface KeepalivedFiles {
  readonly config: string;
  readonly pid: string;
  readonly vrrpPid: string;
  /** keepalived's output, if the agent starts it. */
  readonly log: string;
  readonly notifyFifo: string;
  /** Contains 0, or 1 while the gateway must give up its addresses. */
  readonly fault: string;
}

export function keepalivedFiles(directory: string): KeepalivedFiles {
  return {
    config: `${directory}/keepalived.conf`,
    pid: `${directory}/keepalived.pid`,
    vrrpPid: `${directory}/keepalived-vrrp.pid`,
    log: `${directory}/keepalived.log`,
    notifyFifo: `${directory}/vrrp.fifo`,
    fault: `${directory}/fault`,
  };
}

/** The default IPv4 anchor: link-local, a different one for each virtual router. */
export function anchorFor(family: Family, virtualRouterId: number): string {
  return family === 4
    ? `169.254.255.${virtualRouterId}`
    : `fe80::cafe:${virtualRouterId.toString(16)}`;
}

type NetworkSettings = z.output<ReturnType<typeof networkSettings>>;

/** The agent's settings that concern keepalived. */
export interface KeepalivedInput {
  readonly name: string;
  readonly runtimeDirectory: string;
  readonly addresses: {
    readonly [Field in keyof typeof keepalivedFields]: z.output<(typeof keepalivedFields)[Field]>;
  };
  readonly external?: NetworkSettings | undefined;
  readonly internal?: NetworkSettings | undefined;
}

/** keepalived's settings. Throws `invalid` if they are incomplete. */
export function keepalivedSettings(settings: KeepalivedInput): KeepalivedSettings {
  const networks: VrrpNetwork[] = [];
  if (settings.external !== undefined) networks.push(vrrpNetwork('external', settings.external));
  if (settings.internal !== undefined) networks.push(vrrpNetwork('internal', settings.internal));
  if (settings.external === undefined) {
    throw new CausewayError('invalid', 'keepalived needs the settings of the external network', {
      hint: 'Set external, or set addresses.mover to foreign if another system moves the addresses.',
    });
  }
  return {
    name: settings.name,
    networks,
    priority: settings.addresses.priority,
    advertIntervalMs: settings.addresses.advertMs,
    announceAgainSeconds: settings.addresses.announceAgainSeconds,
    files: keepalivedFiles(settings.runtimeDirectory),
  };
}

function vrrpNetwork(name: VrrpNetwork['name'], settings: NetworkSettings): VrrpNetwork {
  const families = [
    vrrpFamily(4, settings, settings.address4, settings.peers4, settings.anchor4),
    vrrpFamily(6, settings, settings.address6, settings.peers6, settings.anchor6),
  ].filter((family) => family !== undefined);
  if (families.length === 0) {
    throw new CausewayError('invalid', `the ${name} network has neither address4 nor address6`);
  }
  return { name, interface: settings.interface, families };
}

function vrrpFamily(
  family: Family,
  settings: NetworkSettings,
  source: Address | undefined,
  peers: readonly Address[],
  anchor: Address | undefined,
): VrrpFamily | undefined {
  const { virtualRouterId } = settings;
  if (source === undefined) return undefined;
  return {
    family,
    virtualRouterId,
    source,
    peers,
    anchor: anchor ?? (tryParseAddress(anchorFor(family, virtualRouterId)) as Address),
    routes: settings.routes.filter((route) => familyOf(route) === family),
  };
}

/** Number of adverts in a row that may get lost. */
const missableAdverts = 4;

/** A peer takes over within this time. */
export function takeoverMs({ advertIntervalMs }: Pick<KeepalivedSettings, 'advertIntervalMs'>) {
  return missableAdverts * advertIntervalMs;
}

/** All addresses that may send VRRP packets to this gateway. */
export function vrrpPeers(settings: KeepalivedSettings): Address[] {
  return settings.networks.flatMap((each) => each.families.flatMap((family) => family.peers));
}

/** The VRRP packets that keepalived needs to receive with these settings. */
export function vrrpFilter({ networks }: KeepalivedSettings): VrrpFilter {
  const links = new Map<string, Address[]>();
  const routerIds = new Set<number>();
  for (const network of networks) {
    const peers = links.get(network.interface) ?? [];
    for (const family of network.families) {
      peers.push(...family.peers);
      routerIds.add(family.virtualRouterId);
    }
    links.set(network.interface, peers);
  }
  return {
    links: [...links].map(([name, peers]) => ({ interface: name, peers })),
    routerIds: [...routerIds],
  };
}
