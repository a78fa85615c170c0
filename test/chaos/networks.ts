import { parseAddress } from '../../src/domain/address.ts';
import { parsePrefix } from '../../src/domain/prefix.ts';
import { collect } from '../../src/openstack/collect.ts';
import type { Neutron } from '../../src/openstack/neutron/neutron.ts';
import { externalAddressesOf, gateways, type GatewayName } from '../kernel/gateway/topology.ts';

const { signal } = new AbortController();

export interface Networks {
  readonly subnets: readonly string[];
  readonly floatingNetwork: string;
  /** Where load balancers get their addresses. */
  readonly balancerSubnet: string;
  /** Ids of the gateways' own ports. */
  readonly gatewayPorts: ReadonlyMap<GatewayName, string>;
}

/** The network in which the gateways stand, behind a router to where floating IPs come from. */
export async function makeNetworks(neutron: Neutron): Promise<Networks> {
  const { id: networkId } = await neutron.networks.create({ name: 'gateways' }, { signal });
  const makeSubnet = (cidr: string, start: string, end: string) =>
    neutron.subnets.create(
      {
        ...{ name: 'gateways', networkId, cidr: parsePrefix(cidr) },
        allocationPools: [{ start: parseAddress(start), end: parseAddress(end) }],
      },
      { signal },
    );
  const four = await makeSubnet('10.77.0.0/16', '10.77.128.1', '10.77.128.200');
  const six = await makeSubnet('2001:db8:77::/64', '2001:db8:77::1:1', '2001:db8:77::1:ff');
  const [external] = await collect(neutron.networks.list({ external: true }, { signal }));
  if (external === undefined) throw new Error('the cloud has no external network');
  const spec = { name: 'gateways', externalNetworkId: external.id };
  const router = await neutron.routers.create(spec, { signal });
  await neutron.addRouterInterface(router.id, four.id, { signal });
  const balancers = { name: 'balancers', networkId, cidr: parsePrefix('10.76.0.0/16') };
  const { id: balancerSubnet } = await neutron.subnets.create(balancers, { signal });
  await neutron.addRouterInterface(router.id, balancerSubnet, { signal });
  const subnets = [four.id, six.id];
  const gatewayPorts = await makeGatewayPorts(neutron, networkId, four.id, six.id);
  return { subnets, floatingNetwork: external.id, balancerSubnet, gatewayPorts };
}

async function makeGatewayPorts(
  neutron: Neutron,
  networkId: string,
  four: string,
  six: string,
): Promise<Map<GatewayName, string>> {
  const ids = new Map<GatewayName, string>();
  for (const gateway of gateways) {
    const { v4, v6 } = externalAddressesOf(gateway);
    const fixedIps = [
      { subnetId: four, address: parseAddress(v4) },
      { subnetId: six, address: parseAddress(v6) },
    ];
    const spec = { name: gatewayPortName(gateway), networkId, fixedIps };
    ids.set(gateway, (await neutron.ports.create(spec, { signal })).id);
  }
  return ids;
}

export function gatewayPortName(gateway: GatewayName): string {
  return `gateway ${gateway}`;
}

/** A network of somebody else, with load balancers to discover. */
export async function makeOtherNetwork(neutron: Neutron): Promise<string> {
  const { id: networkId } = await neutron.networks.create({ name: 'others' }, { signal });
  const spec = { name: 'others', networkId, cidr: parsePrefix('10.75.0.0/16') };
  return (await neutron.subnets.create(spec, { signal })).id;
}

/** The addresses of these subnets that are in a text, such as a ruleset. */
export function virtualAddressesIn(text: string): Set<string> {
  return new Set(text.match(/10\.77\.128\.\d+|2001:db8:77::1:[0-9a-f]+/g));
}
