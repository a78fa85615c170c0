import type { Actor } from '../actor.ts';
import { boolean, integer, string, type Attributes } from './attributes.ts';
import { conflict, notFound } from './refusals.ts';
import { commonView, type Resource } from './resource.ts';
import type { NetworkRow } from './rows.ts';
import type { NeutronState } from './state.ts';

const attributes: Attributes = {
  name: { read: string, in: 'both' },
  description: { read: string, in: 'both' },
  admin_state_up: { read: boolean, in: 'both' },
  shared: { read: boolean, in: 'both' },
  'router:external': { read: boolean, in: 'both' },
  port_security_enabled: { read: boolean, in: 'both' },
  mtu: { read: integer, in: 'both' },
  'provider:network_type': { read: string, in: 'post' },
  'provider:physical_network': { read: string, in: 'post' },
  'provider:segmentation_id': { read: integer, in: 'post' },
};

export function networkNotFound(id: string) {
  return notFound('NetworkNotFound', `Network ${id} could not be found.`);
}

export function isNetworkVisible(row: NetworkRow, actor: Actor): boolean {
  return actor.isAdmin || row.project_id === actor.projectId || row.shared || row.external;
}

/** Neutron ports that are deleted with their network, because Neutron created them itself. */
const disposable = ['network:dhcp'];

export function networkResource(state: NeutronState): Resource<NetworkRow> {
  const table = state.networks;
  return {
    path: 'networks',
    collection: 'networks',
    member: 'network',
    quota: 'network',
    table,
    attributes,
    adminAttributes: ['router:external', 'shared', 'provider:network_type'],
    isVisible: isNetworkVisible,
    visible: (actor) => table.all().filter((row) => isNetworkVisible(row, actor)),
    view: (row, actor) => networkView(state, row, actor),
    notFound: networkNotFound,
    create: (values, _actor, projectId) => {
      const type = (values['provider:network_type'] as string | undefined) ?? 'vxlan';
      return table.insert({
        ...state.newRow(projectId, values),
        admin_state_up: (values['admin_state_up'] as boolean | undefined) ?? true,
        shared: (values['shared'] as boolean | undefined) ?? false,
        external: (values['router:external'] as boolean | undefined) ?? false,
        port_security_enabled: (values['port_security_enabled'] as boolean | undefined) ?? true,
        mtu: (values['mtu'] as number | undefined) ?? (type === 'vxlan' ? 1450 : 1500),
        network_type: type,
        physical_network: (values['provider:physical_network'] as string | undefined) ?? null,
        segmentation_id:
          (values['provider:segmentation_id'] as number | undefined) ??
          (type === 'flat' ? null : table.size + 1),
      });
    },
    update: (row, { 'router:external': external, ...values }) => {
      table.update(row, values);
      if (typeof external === 'boolean') table.update(row, { external });
    },
    remove: (row) => removeNetwork(state, row),
  };
}

function removeNetwork(state: NeutronState, row: NetworkRow): void {
  const ports = state.ports.sort(state.ports.by('network_id', row.id));
  const inUse = ports.filter((port) => !disposable.includes(port.device_owner));
  if (inUse.length > 0) {
    const ids = inUse.map((port) => port.id).join(',');
    throw conflict(
      'NetworkInUse',
      `Unable to complete operation on network ${row.id}. There are one or more ports still in use on the network, id for these ports is: ${ids}.`,
    );
  }
  for (const subnet of state.subnets.by('network_id', row.id)) {
    state.subnets.delete(subnet.id);
    state.addresses.delete(subnet.id);
  }
  state.networks.delete(row.id);
}

function networkView(state: NeutronState, row: NetworkRow, actor: Actor): Record<string, unknown> {
  return {
    ...commonView(row),
    admin_state_up: row.admin_state_up,
    mtu: row.mtu,
    status: 'ACTIVE',
    subnets: state.subnets.by('network_id', row.id).map((subnet) => subnet.id),
    shared: row.shared,
    availability_zone_hints: [],
    availability_zones: [],
    ipv4_address_scope: null,
    ipv6_address_scope: null,
    'router:external': row.external,
    ...(row.external ? { is_default: false } : {}),
    port_security_enabled: row.port_security_enabled,
    ...(actor.isAdmin
      ? {
          'provider:network_type': row.network_type,
          'provider:physical_network': row.physical_network,
          'provider:segmentation_id': row.segmentation_id,
        }
      : {}),
  };
}
