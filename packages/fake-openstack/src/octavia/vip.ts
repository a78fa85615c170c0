import { parseAddress } from '@causeway/base/address/address';
import type { Actor } from '../actor.ts';
import { Refusal } from '../http/refusal.ts';
import { newUuid } from '../ids.ts';
import { deletePort, insertPort } from '../neutron/ports.ts';
import type { NetworkRow, PortRow, SubnetRow } from '../neutron/rows.ts';
import type { NeutronState } from '../neutron/state.ts';
import { invalid, providerError, validationFailure } from './refusals.ts';
import type { LoadBalancerRow } from './rows.ts';

type Values = Readonly<Record<string, unknown>>;

export type Vip = Pick<
  LoadBalancerRow,
  | 'vip_address'
  | 'vip_port_id'
  | 'vip_subnet_id'
  | 'vip_network_id'
  | 'additional_vips'
  | 'ownsPort'
  | 'neutronIds'
>;

/** Finds or creates the Neutron port of the load balancer's address, and Octavia's additional objects. */
export function takeVip(
  neutron: NeutronState,
  owner: { loadBalancerId: string; projectId: string; serviceProjectId: string; provider: string },
  values: Values,
  actor: Actor,
): Vip {
  const { port, ownsPort } = vipPort(neutron, owner, values, actor);
  const [fixed, ...others] = port.fixed_ips;
  if (fixed === undefined) throw validationFailure(`Port ${port.id} has no addresses.`);
  const additional = new Set(additionalVips(values).map(({ subnet_id: id }) => id));
  const group = neutron.securityGroups.insert({
    ...neutron.newRow(owner.serviceProjectId, { name: `lb-${owner.loadBalancerId}` }),
    isDefault: false,
  });
  neutron.ports.update(port, { security_groups: [group.id] });
  return {
    vip_address: fixed.ip_address,
    vip_port_id: port.id,
    vip_subnet_id: fixed.subnet_id,
    vip_network_id: port.network_id,
    additional_vips: others.filter(({ subnet_id: id }) => additional.has(id)),
    ownsPort,
    neutronIds: { ports: [amphoraPort(neutron, owner, port)], groups: [group.id] },
  };
}

/** Releases everything. A Neutron port that the user provided is kept. */
export function releaseVip(neutron: NeutronState, loadBalancer: LoadBalancerRow): void {
  const port = neutron.ports.get(loadBalancer.vip_port_id);
  if (port !== undefined) {
    if (loadBalancer.ownsPort) deletePort(neutron, port);
    else neutron.ports.update(port, { security_groups: [] });
  }
  for (const id of loadBalancer.neutronIds.ports) {
    const own = neutron.ports.get(id);
    if (own !== undefined) deletePort(neutron, own);
  }
  for (const id of loadBalancer.neutronIds.groups) neutron.securityGroups.delete(id);
}

function vipPort(
  neutron: NeutronState,
  owner: { loadBalancerId: string; projectId: string; provider: string },
  values: Values,
  actor: Actor,
): { port: PortRow; ownsPort: boolean } {
  const portId = values['vip_port_id'] as string | undefined;
  if (portId !== undefined) return { port: givenPort(neutron, portId, actor), ownsPort: false };
  const { network, subnet } = vipNetwork(neutron, values, actor);
  const address = values['vip_address'] as string | undefined;
  const additional = additionalVips(values);
  checkAdditionalSubnets(neutron, network, subnet, additional);
  try {
    const port = insertPort(
      neutron,
      network,
      {
        name: `octavia-lb-${owner.loadBalancerId}`,
        device_id: `lb-${owner.loadBalancerId}`,
        device_owner: 'Octavia',
        admin_state_up: false,
        fixed_ips: [
          {
            subnetId: subnet?.id,
            address: address === undefined ? undefined : parseAddress(address),
          },
          ...additional.map(({ subnet_id: subnetId, ip_address: own }) => ({
            subnetId,
            address: own === undefined ? undefined : parseAddress(own),
          })),
        ],
      },
      owner.projectId,
    );
    return { port, ownsPort: true };
  } catch (error) {
    // Octavia reports Neutron's error as its own.
    if (error instanceof Refusal) throw providerError(owner.provider, error.message);
    throw error;
  }
}

interface WantedVip {
  readonly subnet_id: string;
  readonly ip_address?: string;
}

function additionalVips(values: Values): readonly WantedVip[] {
  return (values['additional_vips'] as readonly WantedVip[] | undefined) ?? [];
}

/**
 * All addresses are on one Neutron port. Their subnets belong to one network, and each subnet has one
 * address.
 */
function checkAdditionalSubnets(
  neutron: NeutronState,
  network: NetworkRow,
  subnet: SubnetRow | undefined,
  additional: readonly WantedVip[],
): void {
  const used = new Set([subnet?.id]);
  for (const { subnet_id: id } of additional) {
    if (used.has(id)) {
      throw validationFailure(
        'Duplicate VIP subnet(s) specified. Only one IP can be bound per subnet.',
      );
    }
    used.add(id);
  }
  for (const { subnet_id: id } of additional) {
    const own = neutron.subnets.get(id);
    // Octavia checks only the first subnet itself and fails on the others.
    if (own === undefined) throw new Refusal(500, `subnet not found (subnet id: ${id}).`);
    if (own.network_id === network.id) continue;
    throw validationFailure('All VIP subnets must belong to the same network.');
  }
}

function givenPort(neutron: NeutronState, id: string, actor: Actor): PortRow {
  const port = neutron.ports.get(id);
  if (port === undefined || (!actor.isAdmin && port.project_id !== actor.projectId)) {
    throw invalid(`Port ${id} not found.`);
  }
  if (port.device_id !== '') {
    throw validationFailure(`Port ${id} is already used by device ${port.device_id} `);
  }
  return port;
}

function vipNetwork(
  neutron: NeutronState,
  values: Values,
  actor: Actor,
): { network: NetworkRow; subnet: SubnetRow | undefined } {
  const subnetId = values['vip_subnet_id'] as string | undefined;
  const subnet = subnetId === undefined ? undefined : neutron.subnets.get(subnetId);
  if (subnetId !== undefined && subnet === undefined) {
    throw invalid(`Subnet ${subnetId} not found.`);
  }
  const networkId = subnet?.network_id ?? (values['vip_network_id'] as string | undefined);
  if (networkId === undefined) {
    throw validationFailure('VIP must contain one of: vip_port_id, vip_network_id, vip_subnet_id.');
  }
  const network = neutron.networks.get(networkId);
  const isAllowed =
    actor.isAdmin || network?.project_id === actor.projectId || network?.shared === true;
  if (network === undefined || !isAllowed) {
    throw invalid(
      subnetId === undefined ? `Network ${networkId} not found.` : `Subnet ${subnetId} not found.`,
    );
  }
  return { network, subnet: subnet ?? preferredSubnet(neutron, networkId, values) };
}

/** An address determines its subnet. The default is the first IPv4 subnet, then the first IPv6 subnet. */
function preferredSubnet(
  neutron: NeutronState,
  networkId: string,
  values: Values,
): SubnetRow | undefined {
  if (values['vip_address'] !== undefined) return undefined;
  const subnets = neutron.subnets.by('network_id', networkId);
  return subnets.find((subnet) => subnet.ip_version === 4) ?? subnets[0];
}

/** The Neutron port of the amphora. Tenants see it on their network. */
function amphoraPort(
  neutron: NeutronState,
  owner: { serviceProjectId: string },
  vip: PortRow,
): string {
  const network = neutron.networks.get(vip.network_id);
  const [fixed] = vip.fixed_ips;
  if (network === undefined || fixed === undefined) return '';
  const port = insertPort(
    neutron,
    network,
    {
      name: `octavia-lb-vrrp-${newUuid()}`,
      device_id: newUuid(),
      device_owner: 'Octavia',
      security_groups: [],
      allowed_address_pairs: [{ ip: fixed.ip_address, mac: vip.mac_address }],
      fixed_ips: [{ subnetId: fixed.subnet_id, address: undefined }],
    },
    owner.serviceProjectId,
  );
  return port.id;
}
