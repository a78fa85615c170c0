/** Who is where in the playground's network. */
export const plan = {
  /** Between the client and the router. */
  outside: { client: '198.51.100.10', router: '198.51.100.1', bits: 24 },
  /** The tenant's network in the embedded Neutron, between the router and the gateways. */
  tenant: { router: '10.10.0.1', bits: 16 },
  /** Between the gateways and the nodes. The shared address is the nodes' way out. */
  nodes: {
    gateways: ['192.168.50.11', '192.168.50.12'],
    shared: '192.168.50.1',
    prefix: '192.168.50.0/24',
    bits: 24,
  },
  node: { name: 'node-1', address: '192.168.50.21' },
  pods: { prefix: '10.244.0.0/16', gateway: '169.254.1.1' },
  services: '10.96.0.0/16',
} as const;

export const gatewayNames = ['gateway-a', 'gateway-b'] as const;
