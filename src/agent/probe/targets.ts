import type { Address } from '../../domain/address.ts';
import type { Port } from '../../domain/port.ts';
import type { GatewayState } from '../model/state.ts';

/** What to knock at to learn whether an address is there. Any answer will do, a refusal too. */
export interface ProbeTarget {
  readonly address: Address;
  readonly port: Port;
}

/**
 * One target for each destination address: its lowest TCP port, or a port of another protocol where it
 * has no TCP one, since a closed port answers as well. Nodes are knocked at on their kubelet's port, also
 * where a service is sent to its node port on some of them: there a knock would wake one that sleeps, and
 * count as a connection of one that nobody uses.
 */
export function probeTargets(state: GatewayState, nodePort: Port): ProbeTarget[] {
  const nodes = nodesOf(state);
  const best = new Map<Address, { port: Port; isTcp: boolean }>();
  for (const { protocol, destinations } of state.endpoints.values()) {
    const isTcp = protocol === 'TCP';
    for (const { address, port } of destinations) {
      if (nodes.has(address)) continue;
      const known = best.get(address);
      const isBetter =
        known === undefined ||
        (isTcp && !known.isTcp) ||
        (isTcp === known.isTcp && port < known.port);
      if (isBetter) best.set(address, { port, isTcp });
    }
  }
  const targets = [...best].map(([address, { port }]) => ({ address, port }));
  for (const address of nodes) targets.push({ address, port: nodePort });
  return targets;
}

function nodesOf({ nodes, endpoints }: GatewayState): Set<Address> {
  const all = new Set(nodes.keys());
  for (const { routedTo } of endpoints.values()) {
    if (routedTo === undefined || routedTo === 'nodes') continue;
    for (const address of routedTo) all.add(address);
  }
  return all;
}
