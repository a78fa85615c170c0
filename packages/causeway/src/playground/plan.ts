import fs from 'node:fs';

/** A node of the cluster: its own addresses and the networks of its pods, one for each family. */
export interface PlannedNode {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly pods: readonly string[];
}

/** The addresses in the playground's network, for one family. */
export interface FamilyPlan {
  readonly family: 4 | 6;
  /** Between the client and the router. */
  readonly outside: { readonly client: string; readonly router: string; readonly bits: number };
  /** The tenant's network in the embedded Neutron, between the router and the gateways. */
  readonly tenant: {
    readonly subnet: string;
    readonly prefix: string;
    readonly router: string;
    readonly bits: number;
  };
  /** Between the gateways and the nodes. The shared address is the nodes' default gateway. */
  readonly inside: {
    readonly gateways: readonly string[];
    readonly nodes: readonly string[];
    readonly shared: string;
    readonly prefix: string;
    readonly bits: number;
  };
  readonly pods: {
    readonly prefix: string;
    readonly nodes: readonly string[];
    /** The default gateway of pods: every node has it on the link to each of its pods. */
    readonly gateway: string;
    readonly bits: number;
  };
}

const plan4: FamilyPlan = {
  family: 4,
  outside: { client: '198.51.100.10', router: '198.51.100.1', bits: 24 },
  tenant: { subnet: 'private-v4', prefix: '10.10.0.0/16', router: '10.10.0.1', bits: 16 },
  inside: {
    gateways: ['192.168.50.11', '192.168.50.12'],
    nodes: ['192.168.50.21', '192.168.50.22'],
    shared: '192.168.50.1',
    prefix: '192.168.50.0/24',
    bits: 24,
  },
  pods: {
    prefix: '10.244.0.0/16',
    nodes: ['10.244.1.0/24', '10.244.2.0/24'],
    gateway: '169.254.1.1',
    bits: 32,
  },
};

/** These are not translated: the router has a route to the tenant's network. */
const plan6: FamilyPlan = {
  family: 6,
  outside: { client: '2001:db8:51::10', router: '2001:db8:51::1', bits: 64 },
  tenant: {
    subnet: 'private-v6',
    prefix: '2001:db8:10::/64',
    router: '2001:db8:10::1',
    bits: 64,
  },
  inside: {
    gateways: ['fd00:50::11', 'fd00:50::12'],
    nodes: ['fd00:50::21', 'fd00:50::22'],
    shared: 'fd00:50::1',
    prefix: 'fd00:50::/64',
    bits: 64,
  },
  pods: {
    prefix: 'fd00:244::/56',
    nodes: ['fd00:244:0:1::/64', 'fd00:244:0:2::/64'],
    gateway: 'fe80::1',
    bits: 128,
  },
};

const hasIpv6 = fs.existsSync('/proc/sys/net/ipv6');

/** Both families, unless the kernel of this machine has no IPv6. */
export const plans: readonly FamilyPlan[] = hasIpv6 ? [plan4, plan6] : [plan4];

export const plannedNodes: readonly PlannedNode[] = ['node-1', 'node-2'].map((name, index) => ({
  name,
  addresses: plans.map(({ inside }) => inside.nodes[index] ?? ''),
  pods: plans.map(({ pods }) => pods.nodes[index] ?? ''),
}));

export const gatewayNames = ['gateway-a', 'gateway-b'] as const;

/** The node that a pod is bound to. */
export function nodeNamed(name: string | undefined): PlannedNode {
  const node = plannedNodes.find((each) => each.name === name);
  if (node === undefined) throw new RangeError(`the playground has no node ${name ?? ''}`);
  return node;
}
