import { parseAddress } from '@causeway/base/address/address';
import type { Actor } from '../actor.ts';
import { newUuid } from '../ids.ts';
import { address, orNull, string, uuid, type Attributes } from './attributes.ts';
import { associate, needsPort } from './floating-ip-association.ts';
import { networkNotFound } from './networks.ts';
import { deletePort, insertPort, portNotFound } from './ports.ts';
import { badResource, notFound } from './refusals.ts';
import { commonView, isOwn, ownRows, type Resource, type Values } from './resource.ts';
import type { FloatingIpRow, PortRow } from './rows.ts';
import type { NeutronState } from './state.ts';

const attributes: Attributes = {
  floating_network_id: { read: uuid, in: 'post', required: true },
  floating_ip_address: { read: address, in: 'post' },
  subnet_id: { read: orNull(uuid), in: 'post' },
  port_id: { read: orNull(uuid), in: 'both' },
  fixed_ip_address: { read: orNull(address), in: 'both' },
  description: { read: string, in: 'both' },
};

export function floatingIpResource(
  state: NeutronState,
  canSeePort: (port: PortRow, actor: Actor) => boolean,
): Resource<FloatingIpRow> {
  const table = state.floatingIps;
  const findPort = (id: string, actor: Actor): PortRow => {
    const port = state.ports.get(id);
    if (port === undefined || !canSeePort(port, actor)) throw portNotFound(id);
    return port;
  };
  return {
    path: 'floatingips',
    collection: 'floatingips',
    member: 'floatingip',
    quota: 'floatingip',
    table,
    attributes,
    adminAttributes: ['floating_ip_address'],
    filters: { router_id: (row, value) => row.router_id === value },
    isVisible: isOwn,
    visible: (actor) => ownRows(table, actor),
    view: (row) => floatingIpView(state, row),
    notFound: (id) => notFound('FloatingIPNotFound', `Floating IP ${id} could not be found`),
    create: (values, actor, projectId) =>
      createFloatingIp(state, values, projectId, (id) => findPort(id, actor)),
    update: (row, values, actor) => {
      if (typeof values['description'] === 'string') {
        table.update(row, { description: values['description'] });
      }
      updateAssociation(state, row, values, (id) => findPort(id, actor));
    },
    remove: (row) => {
      table.delete(row.id);
      const port = state.ports.get(row.own_port_id);
      if (port !== undefined) deletePort(state, port);
    },
  };
}

function createFloatingIp(
  state: NeutronState,
  values: Values,
  projectId: string,
  findPort: (id: string) => PortRow,
): FloatingIpRow {
  const networkId = values['floating_network_id'] as string;
  const network = state.networks.get(networkId);
  if (network === undefined) throw networkNotFound(networkId);
  if (!network.external) {
    throw badResource('floatingip', `Network ${networkId} is not a valid external network.`);
  }
  const targetId = values['port_id'] as string | null | undefined;
  const target = typeof targetId === 'string' ? findPort(targetId) : undefined;
  if (target === undefined && typeof values['fixed_ip_address'] === 'string') throw needsPort();
  const id = newUuid();
  const subnetId = values['subnet_id'] as string | null | undefined;
  const wanted = values['floating_ip_address'] as string | undefined;
  const fixedIps =
    wanted === undefined && typeof subnetId !== 'string'
      ? undefined
      : [
          {
            subnetId: subnetId ?? undefined,
            address: wanted === undefined ? undefined : parseAddress(wanted),
          },
        ];
  const ownPort = insertPort(
    state,
    network,
    {
      device_owner: 'network:floatingip',
      device_id: id,
      ...(fixedIps === undefined ? {} : { fixed_ips: fixedIps }),
    },
    '',
  );
  const floatingAddress =
    ownPort.fixed_ips.find(({ ip_address }) => !ip_address.includes(':'))?.ip_address ?? '';
  try {
    const floating = { id, address: floatingAddress, networkId };
    const association =
      target === undefined
        ? { port_id: null, fixed_ip_address: null, router_id: null }
        : associate(state, floating, target, wantedFixedIp(values));
    return state.floatingIps.insert({
      ...state.newRow(projectId, values),
      id,
      floating_ip_address: floatingAddress,
      floating_network_id: networkId,
      own_port_id: ownPort.id,
      ...association,
    });
  } catch (error) {
    deletePort(state, ownPort);
    throw error;
  }
}

function wantedFixedIp(values: Values): string | undefined {
  const wanted = values['fixed_ip_address'];
  return typeof wanted === 'string' ? wanted : undefined;
}

/**
 * An update without `port_id` also disassociates the floating IP, unless it sets the description. Neutron
 * behaves the same.
 */
function updateAssociation(
  state: NeutronState,
  row: FloatingIpRow,
  values: Values,
  findPort: (id: string) => PortRow,
): void {
  const portId = values['port_id'];
  if (typeof portId !== 'string') {
    if (wantedFixedIp(values) !== undefined) throw needsPort();
    if (portId === undefined && values['description'] !== undefined) return;
    state.floatingIps.update(row, { port_id: null, fixed_ip_address: null, router_id: null });
    return;
  }
  const floating = {
    id: row.id,
    address: row.floating_ip_address,
    networkId: row.floating_network_id,
  };
  const association = associate(state, floating, findPort(portId), wantedFixedIp(values));
  state.floatingIps.update(row, association);
}

function floatingIpView(state: NeutronState, row: FloatingIpRow): Record<string, unknown> {
  const { name: _name, ...common } = commonView(row);
  return {
    ...common,
    floating_ip_address: row.floating_ip_address,
    floating_network_id: row.floating_network_id,
    router_id: row.router_id,
    port_id: row.port_id,
    fixed_ip_address: row.fixed_ip_address,
    status: 'DOWN',
    port_details: portDetails(state, row.port_id),
  };
}

function portDetails(state: NeutronState, portId: string | null): object | null {
  const port = portId === null ? undefined : state.ports.get(portId);
  if (port === undefined) return null;
  const { name, network_id, mac_address, admin_state_up, status, device_id, device_owner } = port;
  return { name, network_id, mac_address, admin_state_up, status, device_id, device_owner };
}
