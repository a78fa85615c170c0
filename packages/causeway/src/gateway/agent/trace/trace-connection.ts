import { familyOf, type Address } from '@causeway/base/address/address';
import { prefixContains } from '@causeway/base/address/prefix';
import { buildRuleset } from '@causeway/nftables/compile/layout';
import { protocolNumbers } from '@causeway/nftables/model/operands';
import { tracePacket, type Probe, type Trace } from '@causeway/nftables/trace/packet-tracer';
import { isRouted, routedRuleset } from '@causeway/nftables/compile/routed-ruleset';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import {
  toNodes,
  toPolicies,
  toVirtualService,
  type UnhealthyAddresses,
} from '../apply/layout-input.ts';
import { endpointKey, type Endpoint } from '../../protocol/endpoint.ts';
import type { TraceAnswer, TraceQuestion } from '../../protocol/trace.ts';
import type { GatewayState } from '../store/state.ts';

export interface TraceSources {
  readonly state: GatewayState;
  readonly unhealthy: UnhealthyAddresses;
  readonly settings: LayoutSettings;
}

/** Evaluates the rules of the accepted configuration for this connection like the kernel. */
export function traceConnection(sources: TraceSources, question: TraceQuestion): TraceAnswer {
  const endpoint = findEndpoint(sources.state, question);
  if (endpoint === undefined) return notServed(sources.state, question);
  const probe: Probe = {
    source: question.client,
    sourcePort: question.clientPort,
    destination: endpoint.address,
    destinationPort: endpoint.port,
    protocol: protocolNumbers[endpoint.protocol],
  };
  const trace = walk(sources, endpoint, probe);
  const destination = destinationOf(trace, endpoint);
  const all = destinationsOf(sources.state, endpoint);
  const isUnhealthy = ({ address }: Place) => sources.unhealthy.has(address);
  return {
    outcome: trace.sentTo === undefined ? outcomeOf(trace) : 'sent-unchanged',
    because: explain(trace, endpoint, question),
    servedAs: endpointKey(endpoint),
    destination,
    isSourceKept: !trace.masqueraded,
    others: all
      .filter((each) => !isUnhealthy(each))
      .map(text)
      .filter((each) => each !== destination),
    unhealthy: all.filter(isUnhealthy).map(text),
    // A client that knows the seed could select a backend, and traces are often shared.
    steps: trace.steps.map(({ chain, rule }) => ({ chain, rule: rule.replace(/ seed \d+/, '') })),
  };
}

function findEndpoint({ endpoints }: GatewayState, question: TraceQuestion): Endpoint | undefined {
  const { address, protocol, port, service } = question;
  const direct = endpoints.get(endpointKey({ address, protocol, port }));
  if (direct !== undefined || service === undefined) return direct;
  for (const endpoint of endpoints.values()) {
    if (endpoint.service !== service || endpoint.port !== port) continue;
    if (endpoint.protocol !== protocol) continue;
    if (familyOf(endpoint.address) === familyOf(address)) return endpoint;
  }
  return undefined;
}

/** Only the rules of this frontend: other services don't affect its packets. */
function walk(
  { state, unhealthy, settings }: TraceSources,
  endpoint: Endpoint,
  probe: Probe,
): Trace {
  const service = toVirtualService(endpoint, unhealthy);
  const { nodes } = toNodes(state.nodes.values(), unhealthy);
  const options = { from: 'network', localAddresses: [endpoint.address] } as const;
  if (isRouted(service)) {
    const routed = routedRuleset(familyOf(endpoint.address), settings, [service], nodes);
    const trace = routed === undefined ? undefined : tracePacket(routed, probe, options);
    if (trace?.sentTo !== undefined) return trace;
  }
  const assignments = endpoint.destinations.flatMap(
    ({ address }) => state.assignments.get(address) ?? [],
  );
  const policies = toPolicies(state.policies, assignments);
  const ruleset = buildRuleset({ settings, services: [service], nodes, ...policies });
  return tracePacket(ruleset, probe, options);
}

function outcomeOf({ outcome }: Trace): TraceAnswer['outcome'] {
  return outcome === 'delivered' ? 'rejected' : outcome;
}

function destinationOf(trace: Trace, endpoint: Endpoint): string {
  if (trace.sentTo !== undefined) return text({ address: trace.sentTo, port: endpoint.port });
  const { destination, destinationPort } = trace.packet;
  if (destination === endpoint.address) return '';
  return text({ address: destination, port: destinationPort ?? 0 });
}

function destinationsOf(state: GatewayState, endpoint: Endpoint): readonly Place[] {
  const { address, port, nodePort, routedTo, destinations } = endpoint;
  if (nodePort === undefined && routedTo === undefined) return destinations;
  const nodes = routedTo === undefined || routedTo === 'nodes' ? state.nodes.keys() : routedTo;
  return [...nodes]
    .filter((node) => familyOf(node) === familyOf(address))
    .map((node) => ({ address: node, port: nodePort ?? port }));
}

function explain(trace: Trace, endpoint: Endpoint, { client }: TraceQuestion): string {
  const { sourceRanges, destinations, nodePort, routedTo, affinity } = endpoint;
  const spread =
    affinity === 'client'
      ? "The client's address alone decides which one: affinity."
      : "The client's address and port decide which one.";
  if (trace.sentTo !== undefined) return `It goes to a node with nothing rewritten. ${spread}`;
  if (trace.outcome === 'forwarded') {
    return trace.masqueraded ? `${spread} The source is rewritten to come back here.` : spread;
  }
  if (sourceRanges.length > 0 && !sourceRanges.some((range) => prefixContains(range, client))) {
    return "The client is in none of the Service's source ranges.";
  }
  if (destinations.length === 0 && nodePort === undefined && routedTo === undefined) {
    return 'The Service has no ready endpoint.';
  }
  if (trace.packet.destination !== endpoint.address) {
    return 'No network policy that selects the pod lets the client in.';
  }
  return 'There is no node to send it to.';
}

function notServed({ endpoints }: GatewayState, question: TraceQuestion): TraceAnswer {
  const { address, service } = question;
  const ports = [...endpoints.values()]
    .filter((each) => each.address === address || each.service === service)
    .map(({ port, protocol }) => `${port}/${protocol}`);
  const because =
    ports.length === 0
      ? 'This gateway serves nothing on the address.'
      : `This gateway serves other ports on the address: ${ports.join(', ')}.`;
  return {
    outcome: 'not-served',
    because,
    servedAs: '',
    destination: '',
    isSourceKept: true,
    others: [],
    unhealthy: [],
    steps: [],
  };
}

interface Place {
  readonly address: Address;
  readonly port: number;
}

function text({ address, port }: Place): string {
  return familyOf(address) === 4 ? `${address}:${port}` : `[${address}]:${port}`;
}
