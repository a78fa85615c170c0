import { parseAddress, type Address } from '@causeway/base/address/address';
import { parsePrefix } from '@causeway/base/address/prefix';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { buildRuleset } from '@causeway/nftables/compile/layout';
import {
  traceDuringChange,
  tracePacket,
  type Probe,
  type Trace,
  type TraceOptions,
} from '@causeway/nftables/trace/packet-tracer';
import type { Ruleset } from '@causeway/nftables/model/ruleset';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import { OwnedAddresses } from '../owned-addresses.ts';
import type { Diversion } from '../served-service.ts';
import { translateService, type NodeContext } from '../translate-service.ts';

export const nodeAddress = '192.168.1.10';
export const nodeAddress6 = 'fd99::10';

export const tracedLayout: LayoutSettings = {
  table: 'causeway-proxy',
  hashSeed: 7,
  localSources: [],
  hairpin: true,
  resumeConnections: false,
  insiders: { networks: ['10.1.0.0/16', 'fd01::/48'].map(parsePrefix), interfaces: [] },
  dropsUnplaced: true,
  retriesRefused: true,
};

export const tracedNode: NodeContext = {
  name: 'node1',
  zone: 'a',
  addresses: [nodeAddress, nodeAddress6].map(parseAddress),
  nodePortAddresses: [nodeAddress, nodeAddress6].map(parseAddress),
  masqueradeAll: false,
  knowsInsiders: true,
};

export interface TracedOptions {
  readonly services: readonly Service[];
  readonly slices: readonly EndpointSlice[];
  readonly node?: Partial<NodeContext>;
  readonly layout?: Partial<LayoutSettings>;
  readonly diversion?: Diversion;
  readonly virtualNetworks?: readonly string[];
}

/** The rules of a node for some Services. */
export function rulesOf(options: TracedOptions): Ruleset {
  const owned = new OwnedAddresses();
  for (const service of options.services) {
    const name = service.metadata?.name;
    const { targets } = translateService({
      service,
      slices: options.slices.filter(
        ({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === name,
      ),
      diversion: options.diversion,
      node: { ...tracedNode, ...options.node },
    });
    const created = service.metadata?.creationTimestamp ?? '';
    owned.replace({ service: keyOf(service), created, targets });
  }
  return buildRuleset({
    settings: { ...tracedLayout, ...options.layout },
    services: [...owned.all()],
    ...(options.virtualNetworks === undefined
      ? {}
      : { virtualNetworks: options.virtualNetworks.map(parsePrefix) }),
  });
}

/** Sources of connections. */
export const clients = {
  pod: '10.1.0.9',
  pod6: 'fd01::9',
  outside: '203.0.113.5',
  outside6: '2001:db8::5',
  node: nodeAddress,
  node6: nodeAddress6,
} as const;

const numbers = { TCP: 6, UDP: 17, SCTP: 132 } as const;

export interface Attempt {
  readonly from: keyof typeof clients | { readonly address: string; readonly through?: string };
  readonly to: string;
  readonly port: number;
  readonly protocol?: keyof typeof numbers;
  readonly sourcePort?: number;
  readonly random?: number;
  readonly connection?: Probe['connection'];
}

export function traceAttempt(rules: Ruleset, attempt: Attempt): Trace {
  return tracePacket(rules, ...probeOf(attempt));
}

/** The fates of a packet while the first rules are replaced by the second, as `fate` returns them. */
export function fatesDuringChange(
  before: Ruleset,
  after: Ruleset,
  attempt: Attempt,
): ReadonlySet<string> {
  return new Set(traceDuringChange([before, after], ...probeOf(attempt)).map(inShort));
}

function probeOf(attempt: Attempt): [Probe, TraceOptions] {
  const { from, to, port, protocol = 'TCP', sourcePort = 40_000, random = 0 } = attempt;
  const source = typeof from === 'string' ? clients[from] : from.address;
  const through = typeof from === 'string' ? undefined : from.through;
  const localAddresses: Address[] = [...tracedNode.addresses];
  return [
    {
      source: parseAddress(source),
      destination: parseAddress(to),
      protocol: numbers[protocol],
      sourcePort,
      destinationPort: port,
      ...(through === undefined ? {} : { inputInterface: through }),
      ...(attempt.connection === undefined ? {} : { connection: attempt.connection }),
    },
    {
      from: source === nodeAddress || source === nodeAddress6 ? 'local' : 'network',
      localAddresses,
      random: () => random,
    },
  ];
}

/** Short form: the destination, with `masqueraded` if so; or the outcome. */
export function fate(rules: Ruleset, attempt: Attempt): string {
  return inShort(traceAttempt(rules, attempt));
}

function inShort(trace: Trace): string {
  if (trace.outcome === 'dropped' || trace.outcome === 'rejected') return trace.outcome;
  const { destination, destinationPort } = trace.packet;
  const to = `${destination} ${destinationPort}`;
  return trace.masqueraded ? `${to} masqueraded` : to;
}

/** Every destination of connections from one client with different ports. */
export function fates(rules: Ruleset, attempt: Attempt): string[] {
  const seen = new Set<string>();
  for (let sourcePort = 30_000; sourcePort < 30_200; sourcePort += 1) {
    seen.add(fate(rules, { ...attempt, sourcePort, random: (sourcePort - 30_000) / 200 }));
  }
  return [...seen].sort();
}
