import { z } from 'zod';
import { networkSetting } from '@causeway/base/settings/parsed';
import {
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import { listenPort, logSettings } from '@causeway/base/settings/common-settings';
import { settingsDirectory } from '@causeway/netlink/kernel-settings';
import { tableSettings } from '@causeway/nftables/model/table-settings';
import type { VrrpFilter } from '@causeway/nftables/compile/virtual-service';
import {
  anchorFor,
  keepalivedFiles,
  type KeepalivedSettings,
  type VrrpFamily,
  type VrrpNetwork,
} from './announce/keepalived/settings.ts';

const address = (family?: Family) =>
  z
    .string()
    .refine(
      (text) => {
        const parsed = tryParseAddress(text);
        return parsed !== undefined && (family === undefined || familyOf(parsed) === family);
      },
      `is not an ${family === undefined ? 'IP' : `IPv${family}`} address`,
    )
    .transform((text) => tryParseAddress(text) as Address);
const port = z.number().int().min(1).max(65535).transform(parsePort);
const file = z.string().regex(/^\/[\w./@-]+$/, 'is not an absolute path of plain characters');
const linkName = z.string().regex(/^[\w.-]{1,15}$/, 'is not the name of a network interface');
const routerId = z.number().int().min(1).max(255);

const network = (what: string) =>
  z.strictObject({
    interface: linkName.describe(`interface in the ${what} network`),
    virtualRouterId: routerId.describe('VRRP router id, the same on all gateways of the set'),
    address4: address(4).optional().describe("this gateway's own IPv4 address there"),
    peers4: z.array(address(4)).default([]).describe("the other gateways' own IPv4 addresses"),
    anchor4: address(4).optional().describe('IPv4 address that adverts name; never a served one'),
    address6: address(6).optional().describe("this gateway's own IPv6 address there"),
    peers6: z.array(address(6)).default([]).describe("the other gateways' own IPv6 addresses"),
    anchor6: address(6).optional().describe('IPv6 address that adverts name; never a served one'),
    routes: z
      .array(address())
      .default([])
      .describe("addresses that move with the gateway, such as the nodes' default route"),
  });

const settingsObject = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{0,62}$/, 'is not a name')
    .describe("this gateway's name; tokens must be made for it"),
  listen: z
    .strictObject({
      address: address().prefault('::').describe('where the API listens'),
      port: listenPort.default(15213).describe('port of the API'),
    })
    .prefault({}),
  stateDirectory: file
    .default('/var/lib/causeway-agent')
    .describe('where the accepted configuration is kept'),
  runtimeDirectory: file
    .default('/run/causeway-agent')
    .describe('where files of one boot are kept'),
  settingsDirectory: file
    .default(settingsDirectory)
    .describe("where the kernel's settings are, for containers whose own /proc/sys is read-only"),
  secretsFile: file.optional().describe('shared secrets for /v2, base64, one a line'),
  seedFile: file
    .optional()
    .describe('secret that spreads clients over destinations; the same on all gateways of the set'),
  v1: z
    .strictObject({
      secretsFile: file
        .optional()
        .describe("shared secret of ch-k8s-lbaas's controller; turns /v1 on"),
      masquerade: z
        .enum(['needed', 'always'])
        .default('always')
        .describe('whose source address is rewritten for what /v1 asks for'),
    })
    .prefault({}),
  tls: z
    .strictObject({
      certificateFile: file.optional().describe('certificate of the API; turns TLS on'),
      keyFile: file.optional().describe('private key of that certificate'),
      clientAuthorityFile: file.optional().describe('authority that clients must be signed by'),
    })
    .refine(
      // Half of it would be no TLS at all, and nobody would notice.
      (tls) =>
        (tls.certificateFile === undefined) === (tls.keyFile === undefined) &&
        (tls.clientAuthorityFile === undefined || tls.certificateFile !== undefined),
      'certificateFile and keyFile go together, and clientAuthorityFile needs them',
    )
    .prefault({}),
  metrics: z
    .strictObject({
      address: address().prefault('::').describe('where health and metrics listen'),
      port: listenPort.default(15214).describe('port of health and metrics'),
    })
    .prefault({}),
  log: logSettings,
  nftables: z
    .strictObject({
      ...tableSettings('causeway'),
      localSources: z
        .array(networkSetting)
        .default([])
        .describe('networks of nodes and pods, whose own connections need their source rewritten'),
    })
    .prefault({}),
  addresses: z
    .strictObject({
      mover: z
        .enum(['keepalived', 'foreign', 'simulated'])
        .default('keepalived')
        .describe(
          'what moves the addresses; foreign: something that is not ours; played: nothing, with agents of one machine taking turns as master, to try things out',
        ),
      simulatedWith: z
        .string()
        .min(1)
        .default('causeway')
        .describe('a word for all agents that take turns, with the mover played'),
      groups: z
        .enum(['one', 'several'])
        .default('one')
        .describe(
          'how many sets of gateways are active for the same nodes; several need every source rewritten',
        ),
      start: z
        .enum(['spawn', 'external'])
        .default('external')
        .describe('who starts keepalived; external: its own unit'),
      priority: z
        .number()
        .int()
        .min(1)
        .max(254)
        .default(200)
        .describe('VRRP priority; the higher, the sooner a backup takes over'),
      advertMs: z.number().int().min(10).max(40_000).default(100).describe('VRRP advert interval'),
      announceAgainSeconds: z
        .number()
        .int()
        .min(1)
        .max(60)
        .default(1)
        .describe(
          'when addresses are announced again after a takeover; every tenfold of it from then on',
        ),
    })
    .prefault({}),
  external: network('external').optional(),
  internal: network('internal').optional(),
  links: z
    .strictObject({
      restore: z
        .boolean()
        .default(true)
        .describe('restore static routes and own addresses that a link lost when it went down'),
      defaultRoute: z
        .enum(['recorded', 'ignored'])
        .default('recorded')
        .describe(
          'recorded: a gateway whose default route is gone yields to one that has its own; ignored: clients need no default route',
        ),
    })
    .prefault({}),
  removal: z
    .strictObject({
      share: z.number().min(0).max(1).default(0.5).describe('share that one push may remove'),
      count: z.number().int().min(0).default(20).describe('number that one push may always remove'),
    })
    .prefault({}),
  probe: z
    .strictObject({
      intervalMs: z.number().int().min(0).max(60_000).default(500).describe('0 turns probes off'),
      fall: z.number().int().min(1).default(2).describe('unanswered probes that make silence'),
      rise: z.number().int().min(1).default(2).describe('answered probes that end it'),
      nodePort: port
        .prefault(10256)
        .describe('port of nodes that is knocked at; refusing is an answer'),
    })
    .prefault({}),
  limits: z
    .strictObject({
      bodyBytes: z.number().int().min(1024).default(1_073_741_824).describe('largest push'),
      lineBytes: z.number().int().min(1024).default(16_777_216).describe('largest record'),
    })
    .prefault({}),
});

/** The settings of `causeway agent run`. */
export const agentSettings = settingsObject.superRefine(({ addresses, internal, v1 }, context) => {
  if (addresses.groups === 'one') return;
  // Answers would go to the group that has the route, which knows nothing of the others' connections.
  if (internal !== undefined && internal.routes.length > 0) {
    context.addIssue({
      code: 'custom',
      path: ['internal', 'routes'],
      message: "the nodes' route can't be with several active groups (addresses.groups)",
    });
  }
  if (v1.masquerade !== 'always') {
    context.addIssue({
      code: 'custom',
      path: ['v1', 'masquerade'],
      message: 'is always where several groups are active (addresses.groups)',
    });
  }
});

export type AgentSettings = z.output<typeof agentSettings>;
type NetworkSettings = NonNullable<AgentSettings['external']>;

/** What keepalived is to do. Throws `invalid` where the settings can't be meant. */
export function keepalivedSettings(settings: AgentSettings): KeepalivedSettings {
  const networks: VrrpNetwork[] = [];
  if (settings.external !== undefined) networks.push(vrrpNetwork('external', settings.external));
  if (settings.internal !== undefined) networks.push(vrrpNetwork('internal', settings.internal));
  if (settings.external === undefined) {
    throw new CausewayError('invalid', 'keepalived needs the settings of the external network', {
      hint: 'Set external, or set addresses.mover to foreign if something else moves the addresses.',
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

/** Everybody who may send VRRP to this gateway. */
export function vrrpPeers(settings: KeepalivedSettings): Address[] {
  return settings.networks.flatMap((each) => each.families.flatMap((family) => family.peers));
}

/** The VRRP packets that keepalived needs to hear with these settings. */
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

/** Where the API listens for whoever is root on the gateway. */
export function socketFile(settings: Pick<AgentSettings, 'runtimeDirectory'>): string {
  return `${settings.runtimeDirectory}/api.sock`;
}
