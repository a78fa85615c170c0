import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { hostPrefix, parsePrefix, type Prefix } from '../../../packages/base/src/address/prefix.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import type { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import type { Port } from '../../../packages/openstack/src/neutron/resources.ts';
import type { Allowed } from '../../kernel/gateway/port-security.ts';
import { externalAddressesOf, gateways, type GatewayName } from '../../kernel/gateway/topology.ts';

const { signal } = new AbortController();

export interface GatewayNetworks {
  readonly networkId: string;
  readonly routerId: string;
  /** One for each family. */
  readonly subnets: readonly [string, string];
  readonly floatingNetwork: string;
  /** IDs of the gateways' own ports. */
  readonly gatewayPorts: ReadonlyMap<GatewayName, string>;
}

/** The network of the gateways, behind a router to the network of floating IPs. */
export async function makeGatewayNetworks(neutron: Neutron): Promise<GatewayNetworks> {
  const { id: networkId } = await neutron.networks.create({ name: 'gateways' }, { signal });
  const makeSubnet = (cidr: string, start: string, end: string) =>
    neutron.subnets.create(
      {
        name: 'gateways',
        networkId,
        cidr: parsePrefix(cidr),
        allocationPools: [{ start: parseAddress(start), end: parseAddress(end) }],
      },
      { signal },
    );
  const { id: four } = await makeSubnet('10.77.0.0/16', '10.77.128.1', '10.77.128.200');
  const { id: six } = await makeSubnet('2001:db8:77::/64', '2001:db8:77::1:1', '2001:db8:77::1:ff');
  const [external] = await collect(neutron.networks.list({ external: true }, { signal }));
  if (external === undefined) throw new Error('the cloud has no external network');
  const floatingNetwork = external.id;
  const spec = { name: 'gateways', externalNetworkId: floatingNetwork };
  const { id: routerId } = await neutron.routers.create(spec, { signal });
  await neutron.addRouterInterface(routerId, four, { signal });
  const subnets = [four, six] as const;
  const gatewayPorts = await makeGatewayPorts(neutron, networkId, subnets);
  return { networkId, routerId, subnets, floatingNetwork, gatewayPorts };
}

async function makeGatewayPorts(
  neutron: Neutron,
  networkId: string,
  [four, six]: readonly [string, string],
): Promise<Map<GatewayName, string>> {
  const ids = new Map<GatewayName, string>();
  for (const gateway of gateways) {
    const { v4, v6 } = externalAddressesOf(gateway);
    const fixedIps = [
      { subnetId: four, address: parseAddress(v4) },
      { subnetId: six, address: parseAddress(v6) },
    ];
    const spec = { name: portName(gateway), networkId, fixedIps };
    ids.set(gateway, (await neutron.ports.create(spec, { signal })).id);
  }
  return ids;
}

function portName(gateway: GatewayName): string {
  return `gateway ${gateway}`;
}

/** Addresses that the gateways' ports, which are among these, let them use. */
export function allowedBy(ports: readonly Port[]): Allowed {
  const allowed = new Map<GatewayName, readonly Prefix[]>();
  for (const gateway of gateways) {
    const port = ports.find(({ name }) => name === portName(gateway));
    if (port === undefined) continue;
    const own = port.fixedIps.map(({ address }) => hostPrefix(address));
    allowed.set(gateway, [...own, ...port.allowedAddressPairs.map(({ prefix }) => prefix)]);
  }
  return allowed;
}
