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
import { frontendKey, type Frontend } from '../../protocol/frontend.ts';
import type { TraceAnswer, TraceQuestion } from '../../protocol/trace.ts';
import type { GatewayState } from '../store/state.ts';

export interface TraceSources {
  readonly state: GatewayState;
  readonly unhealthy: UnhealthyAddresses;
  readonly settings: LayoutSettings;
}

/** Evaluates the rules of the accepted configuration for this connection like the kernel. */
export function traceConnection(sources: TraceSources, question: TraceQuestion): TraceAnswer {
  const frontend = findFrontend(sources.state, question);
  if (frontend === undefined) return notServed(sources.state, question);
  const probe: Probe = {
    source: question.client,
    sourcePort: question.clientPort,
    destination: frontend.address,
    destinationPort: frontend.port,
    protocol: protocolNumbers[frontend.protocol],
  };
  const trace = walk(sources, frontend, probe);
  const destination = destinationOf(trace, frontend);
  const all = destinationsOf(sources.state, frontend);
  const isUnhealthy = ({ address }: Place) => sources.unhealthy.has(address);
  return {
    outcome: trace.sentTo === undefined ? outcomeOf(trace) : 'sent-unchanged',
    because: explain(trace, frontend, question),
    servedAs: frontendKey(frontend),
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

function findFrontend({ frontends }: GatewayState, question: TraceQuestion): Frontend | undefined {
  const { address, protocol, port, service } = question;
  const direct = frontends.get(frontendKey({ address, protocol, port }));
  if (direct !== undefined || service === undefined) return direct;
  for (const frontend of frontends.values()) {
    if (frontend.service !== service || frontend.port !== port) continue;
    if (frontend.protocol !== protocol) continue;
    if (familyOf(frontend.address) === familyOf(address)) return frontend;
  }
  return undefined;
}

/** Only the rules of this frontend: other services don't affect its packets. */
function walk(
  { state, unhealthy, settings }: TraceSources,
  frontend: Frontend,
  probe: Probe,
): Trace {
  const service = toVirtualService(frontend, unhealthy);
  const { nodes } = toNodes(state.nodes.values(), unhealthy);
  const options = { from: 'network', localAddresses: [frontend.address] } as const;
  if (isRouted(service)) {
    const routed = routedRuleset(familyOf(frontend.address), settings, [service], nodes);
    const trace = routed === undefined ? undefined : tracePacket(routed, probe, options);
    if (trace?.sentTo !== undefined) return trace;
  }
  const assignments = frontend.destinations.flatMap(
    ({ address }) => state.assignments.get(address) ?? [],
  );
  const policies = toPolicies(state.policies, assignments);
  const ruleset = buildRuleset({ settings, services: [service], nodes, ...policies });
  return tracePacket(ruleset, probe, options);
}

function outcomeOf({ outcome }: Trace): TraceAnswer['outcome'] {
  return outcome === 'delivered' ? 'rejected' : outcome;
}

function destinationOf(trace: Trace, frontend: Frontend): string {
  if (trace.sentTo !== undefined) return text({ address: trace.sentTo, port: frontend.port });
  const { destination, destinationPort } = trace.packet;
  if (destination === frontend.address) return '';
  return text({ address: destination, port: destinationPort ?? 0 });
}

function destinationsOf(state: GatewayState, frontend: Frontend): readonly Place[] {
  const { address, port, nodePort, routedTo, destinations } = frontend;
  if (nodePort === undefined && routedTo === undefined) return destinations;
  const nodes = routedTo === undefined || routedTo === 'nodes' ? state.nodes.keys() : routedTo;
  return [...nodes]
    .filter((node) => familyOf(node) === familyOf(address))
    .map((node) => ({ address: node, port: nodePort ?? port }));
}

function explain(trace: Trace, frontend: Frontend, { client }: TraceQuestion): string {
  const { sourceRanges, destinations, nodePort, routedTo, affinity } = frontend;
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
  const hasOnlyDraining = destinations.every(({ weight }) => weight === 0);
  if (hasOnlyDraining && nodePort === undefined && routedTo === undefined) {
    return 'The Service has no ready endpoint.';
  }
  if (trace.packet.destination !== frontend.address) {
    return 'No network policy that selects the pod lets the client in.';
  }
  return 'There is no node to send it to.';
}

function notServed({ frontends }: GatewayState, question: TraceQuestion): TraceAnswer {
  const { address, service } = question;
  const ports = [...frontends.values()]
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
