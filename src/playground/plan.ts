/** A node of the cluster: its own address, and the network of its pods. */
export interface PlannedNode {
  readonly name: string;
  readonly address: string;
  readonly pods: string;
}

/** Who is where in the playground's network. */
export const plan = {
  /** Between the client and the router. */
  outside: { client: '198.51.100.10', router: '198.51.100.1', bits: 24 },
  /** The tenant's network in the embedded Neutron, between the router and the gateways. */
  tenant: { router: '10.10.0.1', bits: 16 },
  /** Between the gateways and the nodes. The shared address is the nodes' way out. */
  inside: {
    gateways: ['192.168.50.11', '192.168.50.12'],
    shared: '192.168.50.1',
    prefix: '192.168.50.0/24',
    bits: 24,
  },
  pods: { prefix: '10.244.0.0/16', gateway: '169.254.1.1' },
} as const;

export const plannedNodes: readonly PlannedNode[] = [
  { name: 'node-1', address: '192.168.50.21', pods: '10.244.1.0/24' },
  { name: 'node-2', address: '192.168.50.22', pods: '10.244.2.0/24' },
];

export const gatewayNames = ['gateway-a', 'gateway-b'] as const;

/** The node that a pod is bound to. */
export function nodeNamed(name: string | undefined): PlannedNode {
  const node = plannedNodes.find((each) => each.name === name);
  if (node === undefined) throw new RangeError(`the playground has no node ${name ?? ''}`);
  return node;
}
