import { createHash } from 'node:crypto';
import { familyOf, tryParseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  parseInterface,
  prefixContains,
  prefixOf,
  type Prefix,
} from '@causeway/base/address/prefix';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import type { Insiders, LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import type { ProxySettings } from './settings.ts';
import type { NodeContext } from './translate-service.ts';

const zoneLabel = 'topology.kubernetes.io/zone';

/** The inputs of the rules from the Node object and the machine's interfaces. */
export function nodeContext(
  settings: ProxySettings,
  node: Node | undefined,
  interfaceAddresses: readonly Address[],
): NodeContext {
  const addresses = nodeAddresses(node);
  return {
    name: settings.nodeName,
    zone: node?.metadata?.labels?.[zoneLabel],
    addresses,
    nodePortAddresses: nodePortAddresses(settings, addresses, interfaceAddresses),
    masqueradeAll: settings.masqueradeAll,
    knowsInsiders: knowsInsiders(settings),
  };
}

/** Settings that are the same for all rules of this node. They change only with a restart. */
export function layoutSettings(settings: ProxySettings, node: Node | undefined): LayoutSettings {
  const identity = node?.metadata?.uid ?? settings.nodeName;
  return {
    table: settings.nftables.table,
    // The same after a restart, so that connections stay where they are; different on every other node.
    hashSeed: createHash('sha256').update(identity).digest().readUInt32BE(0),
    localSources: [],
    hairpin: true,
    resumeConnections: false,
    insiders: insidersOf(settings, node),
    dropsUnplaced: !settings.conntrack.tcpBeLiberal,
    dropsUnallocated: settings.services === 'all',
    retriesRefused: true,
  };
}

/** The pod networks of the node. */
export function podNetworks(node: Node | undefined): Prefix[] {
  const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node?.spec ?? {};
  return podCIDRs.map((text) => {
    const { address, length } = parseInterface(text);
    return prefixOf(address, length);
  });
}

function insidersOf(settings: ProxySettings, node: Node | undefined): Insiders {
  const { by, networks } = settings.insiders;
  switch (by) {
    case 'cluster-networks':
      return { networks, interfaces: [] };
    case 'node-networks':
      return { networks: podNetworks(node), interfaces: [] };
    case 'bridge':
      return byInterface(settings, neededInterface(settings));
    case 'interface-prefix':
      return byInterface(settings, `${neededInterface(settings)}*`);
    case 'nothing':
      return { networks: [], interfaces: [] };
    default:
      return by satisfies never;
  }
}

/**
 * Held packets are replayed through Causeway's devices. The device for packets of pods counts as an interface
 * of pods, too.
 */
function byInterface({ idling }: ProxySettings, name: string): Insiders {
  return { networks: [], interfaces: [name, ...(idling.enabled ? [idling.insideDevice] : [])] };
}

/** Whether pods are identified by the interface of their packets. */
export function matchesInterface({ insiders }: ProxySettings): boolean {
  return insiders.by === 'bridge' || insiders.by === 'interface-prefix';
}

function neededInterface({ insiders }: ProxySettings): string {
  if (insiders.interface !== undefined) return insiders.interface;
  throw new CausewayError('invalid', `insiders.interface is missing for ${insiders.by}`, {
    hint: "Name the bridge, or the prefix of the names of the pods' interfaces.",
  });
}

function knowsInsiders({ insiders }: ProxySettings): boolean {
  if (insiders.by === 'nothing') return false;
  return insiders.by !== 'cluster-networks' || insiders.networks.length > 0;
}

/** Internal addresses first: the first of a family is the node's primary address. */
function nodeAddresses(node: Node | undefined): Address[] {
  const given = node?.status?.addresses ?? [];
  const found = (['InternalIP', 'ExternalIP'] as const).flatMap((wanted) =>
    given.filter(({ type }) => type === wanted).map(({ address }) => tryParseAddress(address)),
  );
  return [...new Set(found.filter((address) => address !== undefined))];
}

function nodePortAddresses(
  { nodePortAddresses: wanted }: ProxySettings,
  addresses: readonly Address[],
  interfaceAddresses: readonly Address[],
): Address[] {
  const served = new Set<Address>();
  for (const choice of wanted) {
    if (choice === 'primary') {
      for (const family of [4, 6] as const) {
        const primary = addresses.find((address) => familyOf(address) === family);
        if (primary !== undefined) served.add(primary);
      }
      continue;
    }
    for (const address of interfaceAddresses) {
      if (prefixContains(choice, address)) served.add(address);
    }
  }
  return [...served].sort();
}
