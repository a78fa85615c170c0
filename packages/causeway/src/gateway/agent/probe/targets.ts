import type { Address } from '@causeway/base/address/address';
import type { Port } from '@causeway/base/address/port';
import type { Destination } from '../../protocol/endpoint.ts';
import type { GatewayState } from '../store/state.ts';

/** What to knock at to learn whether an address is there. Any answer will do, a refusal too. */
export interface ProbeTarget {
  readonly address: Address;
  readonly port: Port;
}

/** What to knock at, by address: there are tens of thousands, so it is not a list of objects. */
export type ProbeTargets = ReadonlyMap<Address, Port>;

/**
 * One target for each destination address: its lowest TCP port, or a port of another protocol where it
 * has no TCP one, since a closed port answers as well. Nodes are knocked at on their kubelet's port, also
 * where a service is sent to its node port on some of them: there a knock would wake one that sleeps, and
 * count as a connection of one that nobody uses. So it would at a cluster address. Such a one is the only
 * destination of its endpoints, and whoever is the only one is sent to whether it answers or not: it is not
 * knocked at, unless it was before. A pod that loses its company for a moment is not forgotten by that.
 */
export function probeTargets(
  state: GatewayState,
  nodePort: Port,
  before: ProbeTargets = new Map(),
): ProbeTargets {
  const nodes = nodesOf(state);
  const targets = new Map<Address, Port>();
  const withoutTcp = new Set<Address>();
  for (const { protocol, destinations } of state.endpoints.values()) {
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

/** The targets of a state, worked out once for each change of it and not for each round of probes. */
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

function nodesOf({ nodes, endpoints }: GatewayState): Set<Address> {
  const all = new Set(nodes.keys());
  for (const { routedTo } of endpoints.values()) {
    if (routedTo === undefined || routedTo === 'nodes') continue;
    for (const address of routedTo) all.add(address);
  }
  return all;
}
