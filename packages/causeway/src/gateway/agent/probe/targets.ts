import type { Address } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import type { Destination } from '../../protocol/frontend.ts';
import type { GatewayState } from '../store/state.ts';

/** The address and port of a probe. Any answer counts, including a refused connection. */
export interface ProbeTarget {
  readonly address: Address;
  readonly port: Port;
}

/** Ports by address. A map, because there are tens of thousands of entries. */
export type ProbeTargets = ReadonlyMap<Address, Port>;

/**
 * One target for each backend address: its lowest TCP port, or a port of another protocol if it has no TCP
 * port, since a closed port also answers.
 *
 * Nodes are probed at the port `nodePort`, even if a Service uses their node ports. A probe of a node port
 * would wake an idle Service and count as a connection of an unused one. The same applies to a cluster
 * address.
 *
 * A draining backend gets no new connections, so it is not probed.
 *
 * A backend without an alternative gets traffic whether it answers or not. It is not probed, unless it was
 * before: a pod that has no alternative for a moment keeps its state. A cluster address is always the only
 * backend of its frontends.
 */
export function probeTargets(
  state: GatewayState,
  nodePort: Port,
  before: ProbeTargets = new Map(),
): ProbeTargets {
  const nodes = nodesOf(state);
  const targets = new Map<Address, Port>();
  const withoutTcp = new Set<Address>();
  for (const { protocol, destinations: all } of state.frontends.values()) {
    const destinations = all.filter(({ weight }) => weight > 0);
    const isTcp = protocol === 'TCP';
    const isAlone = haveOneAddress(destinations);
    for (const { address, port } of destinations) {
      if (nodes.has(address) || (isAlone && !before.has(address))) continue;
      const known = targets.get(address);
      const isKnownTcp = known !== undefined && !withoutTcp.has(address);
      const isBetter =
        known === undefined || (isTcp && !isKnownTcp) || (isTcp === isKnownTcp && port < known);
      if (!isBetter) continue;
      targets.set(address, port);
      if (isTcp) withoutTcp.delete(address);
      else withoutTcp.add(address);
    }
  }
  for (const address of nodes) targets.set(address, nodePort);
  return targets;
}

/** The targets of a state, computed once for each change and not for each round of probes. */
export class TargetsOfState {
  readonly #nodePort: Port;
  #last: { readonly generation: number; readonly targets: ProbeTargets } | undefined;

  constructor(nodePort: Port) {
    this.#nodePort = nodePort;
  }

  of(state: GatewayState): ProbeTargets {
    const { generation } = state;
    if (this.#last?.generation !== generation) {
      const targets = probeTargets(state, this.#nodePort, this.#last?.targets);
      this.#last = { generation, targets };
    }
    return this.#last.targets;
  }
}

function haveOneAddress(destinations: readonly Destination[]): boolean {
  return destinations.every(({ address }) => address === destinations[0]?.address);
}

function nodesOf({ nodes, frontends }: GatewayState): Set<Address> {
  const all = new Set(nodes.keys());
  for (const { routedTo } of frontends.values()) {
    if (routedTo === undefined || routedTo === 'nodes') continue;
    for (const address of routedTo) all.add(address);
  }
  return all;
}
