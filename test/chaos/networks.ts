import { parsePrefix } from '../../packages/base/src/address/prefix.ts';
import type { Neutron } from '../../packages/openstack/src/neutron/neutron.ts';
import { makeGatewayNetworks, type GatewayNetworks } from '../cluster/gateway/gateway-networks.ts';

const { signal } = new AbortController();

export interface Networks extends GatewayNetworks {
  /** Subnet of the load balancers' addresses. */
  readonly balancerSubnet: string;
}

/** Creates the gateways' network, and another one for load balancers. */
export async function makeNetworks(neutron: Neutron): Promise<Networks> {
  const networks = await makeGatewayNetworks(neutron);
  const { networkId, routerId } = networks;
  const balancers = { name: 'balancers', networkId, cidr: parsePrefix('10.76.0.0/16') };
  const { id: balancerSubnet } = await neutron.subnets.create(balancers, { signal });
  await neutron.addRouterInterface(routerId, balancerSubnet, { signal });
  return { ...networks, balancerSubnet };
}

/** Creates a network of another project, with load balancers to discover. */
export async function makeOtherNetwork(neutron: Neutron): Promise<string> {
  const { id: networkId } = await neutron.networks.create({ name: 'others' }, { signal });
  const spec = { name: 'others', networkId, cidr: parsePrefix('10.75.0.0/16') };
  return (await neutron.subnets.create(spec, { signal })).id;
}

/** The addresses of these subnets that occur in a text, such as a ruleset. */
export function virtualAddressesIn(text: string): Set<string> {
  return new Set(text.match(/10\.77\.128\.\d+|2001:db8:77::1:[0-9a-f]+/g));
}
