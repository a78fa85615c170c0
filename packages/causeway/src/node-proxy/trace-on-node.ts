import { familyOf, tryParseAddress, type Address } from '@causeway/base/address/address';
import type { Port, Protocol } from '@causeway/base/address/port';
import { prefixContains } from '@causeway/base/address/prefix';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { buildRuleset } from '@causeway/nftables/compile/layout';
import { protocolNumbers } from '@causeway/nftables/model/operands';
import { tracePacket, type Trace } from '@causeway/nftables/trace/packet-tracer';
import { layoutSettings, nodeContext, podNetworks } from './node-context.ts';
import { proxySettings } from './settings.ts';
import { translateService } from './translate-service.ts';

export interface NodeQuestion {
  readonly client: Address;
  readonly clientPort: Port;
  readonly address: Address;
  readonly protocol: Protocol;
  readonly port: Port;
}

export interface NodeTraceSources {
  readonly service: Service;
  readonly slices: readonly EndpointSlice[];
  /** All nodes of the cluster. */
  readonly nodes: readonly Node[];
}

/** How the proxy of one node handles a connection. Undefined if it does not serve the address. */
export interface NodeTrace {
  readonly node: string;
  readonly trace: Trace;
}

/**
 * Simulates the rules that a node's proxy writes for a Service. The node is the client's own, if it has one:
 * a pod's connections are rewritten where the pod runs. The node's settings are not known here: the defaults
 * apply, with the pod networks of all nodes as the cluster's.
 */
export function traceOnNode(
  { service, slices, nodes }: NodeTraceSources,
  question: NodeQuestion,
): NodeTrace | undefined {
  const node = nodes.find((each) => isHome(each, question.client)) ?? nodes[0];
  const nodeName = node?.metadata?.name;
  if (node === undefined || nodeName === undefined) return undefined;
  const networks = nodes.flatMap(podNetworks);
  const settings = { ...proxySettings.parse({ nodeName }), nodeName };
  const known = { ...settings, insiders: { ...settings.insiders, networks } };
  const context = nodeContext(known, node, []);
  const { targets } = translateService({ service, slices, node: context, diversion: undefined });
  const { address, port, protocol } = question;
  const virtual = targets
    .map((target) => target.virtual)
    .find((each) => each.address === address && each.port === port && each.protocol === protocol);
  if (virtual === undefined) return undefined;
  const ruleset = buildRuleset({ settings: layoutSettings(known, node), services: [virtual] });
  const probe = {
    source: question.client,
    sourcePort: question.clientPort,
    destination: address,
    destinationPort: port,
    protocol: protocolNumbers[protocol],
  };
  const isLocal = addressesOf(node).includes(question.client);
  const localAddresses = addressesOf(node);
  const from = isLocal ? 'local' : 'network';
  return { node: nodeName, trace: tracePacket(ruleset, probe, { from, localAddresses }) };
}

function isHome(node: Node, client: Address): boolean {
  if (addressesOf(node).includes(client)) return true;
  return podNetworks(node).some(
    (network) => familyOf(network.address) === familyOf(client) && prefixContains(network, client),
  );
}

function addressesOf({ status }: Node): Address[] {
  return (status?.addresses ?? [])
    .map(({ address }) => tryParseAddress(address))
    .filter((address) => address !== undefined);
}
