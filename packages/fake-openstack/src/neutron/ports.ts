import type { Actor } from '../actor.ts';
import { Refusal } from '../http/refusal.ts';
import { newMacAddress } from '../ids.ts';
import { addressPairs, pairsNeedPortSecurity, readAddressPair } from './address-pairs.ts';
import { anything, boolean, listOf, string, uuid, type Attributes } from './attributes.ts';
import { allocateFixedIps, readFixedIps, releaseFixedIps } from './fixed-ips.ts';
import { dissociatePort } from './floating-ip-association.ts';
import { isNetworkVisible, networkNotFound } from './networks.ts';
import { conflict, notFound } from './refusals.ts';
import { commonView, type Resource, type Values } from './resource.ts';
import type { NetworkRow, PortRow } from './rows.ts';
import { defaultSecurityGroup, securityGroupNotFound } from './security-groups.ts';
import type { NeutronState } from './state.ts';

const attributes: Attributes = {
  network_id: { read: uuid, in: 'post', required: true },
  name: { read: string, in: 'both' },
  description: { read: string, in: 'both' },
  admin_state_up: { read: boolean, in: 'both' },
  mac_address: { read: string, in: 'post' },
  device_id: { read: string, in: 'both' },
  device_owner: { read: string, in: 'both' },
  fixed_ips: { read: listOf(readFixedIps), in: 'both' },
  allowed_address_pairs: { read: listOf(readAddressPair), in: 'both' },
  security_groups: { read: listOf(uuid), in: 'both' },
  port_security_enabled: { read: boolean, in: 'both' },
  'binding:host_id': { read: string, in: 'both' },
  'binding:vnic_type': { read: anything, in: 'both' },
  'binding:profile': { read: anything, in: 'both' },
  extra_dhcp_opts: { read: anything, in: 'both' },
};

export function portNotFound(id: string) {
  return notFound('PortNotFound', `Port ${id} could not be found.`);
}

/** Neutron ports with these owners can only be removed through their owner. */
const servicePorts = ['network:router_interface', 'network:router_gateway', 'network:floatingip'];

export function portResource(state: NeutronState): Resource<PortRow> {
  const table = state.ports;
  const isVisible = (row: PortRow, actor: Actor) =>
    actor.isAdmin ||
    row.project_id === actor.projectId ||
    // The owner of a network can see the Neutron ports of other projects on it.
    state.networks.get(row.network_id)?.project_id === actor.projectId;
  return {
    path: 'ports',
    collection: 'ports',
    member: 'port',
    quota: 'port',
    table,
    attributes,
    adminAttributes: ['binding:host_id'],
    filters: {
      fixed_ips: matchesFixedIp,
      security_groups: (row, value) => row.security_groups.includes(value),
    },
    isVisible,
    visible: (actor) => visiblePorts(state, actor),
    view: portView,
    notFound: portNotFound,
    create: (values, actor, projectId) => createPort(state, values, actor, projectId),
    update: (row, values) => updatePort(state, row, values),
    remove: (row) => {
      if (servicePorts.includes(row.device_owner)) {
        throw conflict(
          'ServicePortInUse',
          `Port ${row.id} cannot be deleted directly via the port API: has device owner ${row.device_owner}.`,
        );
      }
      deletePort(state, row);
    },
  };
}

function visiblePorts(state: NeutronState, actor: Actor): readonly PortRow[] {
  if (actor.isAdmin) return state.ports.all();
  const rows = new Set(state.ports.by('project_id', actor.projectId));
  for (const network of state.networks.by('project_id', actor.projectId)) {
    for (const port of state.ports.by('network_id', network.id)) rows.add(port);
  }
  return state.ports.sort([...rows]);
}

/** `fixed_ips=ip_address=…`, `subnet_id=…` or `ip_address_substr=…`. */
function matchesFixedIp(row: PortRow, filter: string): boolean {
  const at = filter.indexOf('=');
  const key = filter.slice(0, at);
  const value = filter.slice(at + 1);
  return row.fixed_ips.some((fixed) => {
    if (key === 'ip_address') return fixed.ip_address === value;
    if (key === 'subnet_id') return fixed.subnet_id === value;
    return key === 'ip_address_substr' && fixed.ip_address.includes(value);
  });
}

function createPort(state: NeutronState, values: Values, actor: Actor, projectId: string): PortRow {
  const networkId = values['network_id'] as string;
  const network = state.networks.get(networkId);
  if (network === undefined || !isNetworkVisible(network, actor)) throw networkNotFound(networkId);
  if (!actor.isAdmin && network.project_id !== actor.projectId && !network.shared) {
    throw new Refusal(403, `Tenant ${actor.projectId} not allowed to create port on this network`, {
      type: 'HTTPForbidden',
    });
  }
  return insertPort(state, network, values, projectId);
}

/** Creates a Neutron port without permission checks. Used by Neutron itself and by Octavia. */
export function insertPort(
  state: NeutronState,
  network: NetworkRow,
  values: Values,
  projectId: string,
): PortRow {
  const mac = (values['mac_address'] as string | undefined) ?? newMacAddress();
  const owner = (values['device_owner'] as string | undefined) ?? '';
  const security = readSecurity(state, values, {
    mac,
    port_security_enabled: !owner.startsWith('network:') && network.port_security_enabled,
    security_groups: undefined,
    allowed_address_pairs: [],
    project_id: projectId,
  });
  const wanted = values['fixed_ips'] as ReturnType<typeof readFixedIps>[] | undefined;
  const fixedIps = allocateFixedIps(state, network.id, mac, wanted);
  return state.ports.insert({
    ...state.newRow(projectId, values),
    revision_number: 1,
    network_id: network.id,
    mac_address: mac,
    admin_state_up: (values['admin_state_up'] as boolean | undefined) ?? true,
    status: owner === 'network:floatingip' ? 'N/A' : 'DOWN',
    device_id: (values['device_id'] as string | undefined) ?? '',
    device_owner: owner,
    fixed_ips: fixedIps,
    host_id: (values['binding:host_id'] as string | undefined) ?? '',
    ...security,
  });
}

interface SecurityBefore {
  readonly mac: string;
  readonly project_id: string;
  readonly port_security_enabled: boolean;
  /** undefined: the project's default group if port security is enabled. */
  readonly security_groups: readonly string[] | undefined;
  readonly allowed_address_pairs: PortRow['allowed_address_pairs'];
}

/** Security groups and address pairs require port security. */
function readSecurity(
  state: NeutronState,
  values: Values,
  before: SecurityBefore,
): Pick<PortRow, 'security_groups' | 'allowed_address_pairs' | 'port_security_enabled'> {
  const isEnabled =
    (values['port_security_enabled'] as boolean | undefined) ?? before.port_security_enabled;
  const wantedPairs = values['allowed_address_pairs'] as
    | ReturnType<typeof readAddressPair>[]
    | undefined;
  const pairs =
    wantedPairs === undefined
      ? before.allowed_address_pairs
      : addressPairs(wantedPairs, before.mac, state.maxAddressPairs);
  if (!isEnabled && pairs.length > 0) throw pairsNeedPortSecurity();
  const wantedGroups = values['security_groups'] as string[] | undefined;
  for (const id of wantedGroups ?? []) {
    if (state.securityGroups.get(id) === undefined) throw securityGroupNotFound(id);
  }
  const groups = wantedGroups ?? before.security_groups;
  if (!isEnabled && groups !== undefined && groups.length > 0) {
    throw conflict(
      'PortSecurityPortHasSecurityGroup',
      'Port has security group associated. Cannot disable port security or IP address until security group is removed',
    );
  }
  const fallback = () => (isEnabled ? [defaultSecurityGroup(state, before.project_id).id] : []);
  return {
    port_security_enabled: isEnabled,
    allowed_address_pairs: pairs,
    security_groups: groups ?? fallback(),
  };
}

function updatePort(state: NeutronState, row: PortRow, values: Values): void {
  const security = readSecurity(state, values, { ...row, mac: row.mac_address });
  const wanted = values['fixed_ips'] as ReturnType<typeof readFixedIps>[] | undefined;
  const fixedIps = wanted === undefined ? row.fixed_ips : changeFixedIps(state, row, wanted);
  const hostId = values['binding:host_id'] as string | undefined;
  const plain = ['name', 'description', 'admin_state_up', 'device_id', 'device_owner'];
  const changes = Object.fromEntries(
    Object.entries(values).filter(([name]) => plain.includes(name)),
  );
  state.ports.update(row, {
    ...(changes as Partial<PortRow>),
    ...security,
    fixed_ips: fixedIps,
    ...(hostId === undefined ? {} : { host_id: hostId }),
  });
}

/** Existing addresses in the request are kept. An entry without an address keeps an address of its subnet. */
function changeFixedIps(
  state: NeutronState,
  row: PortRow,
  wanted: readonly ReturnType<typeof readFixedIps>[],
): PortRow['fixed_ips'] {
  const before = [...row.fixed_ips];
  const kept: PortRow['fixed_ips'][number][] = [];
  const added: (typeof wanted)[number][] = [];
  for (const entry of wanted) {
    const at = before.findIndex(
      (fixed) =>
        (entry.subnetId === undefined || entry.subnetId === fixed.subnet_id) &&
        (entry.address === undefined || entry.address === fixed.ip_address),
    );
    const [same] = at < 0 ? [] : before.splice(at, 1);
    if (same === undefined) added.push(entry);
    else kept.push(same);
  }
  const fresh = allocateFixedIps(state, row.network_id, row.mac_address, added);
  releaseFixedIps(state, before);
  return [...kept, ...fresh];
}

/** Deletes a Neutron port and disassociates its floating IPs. */
export function deletePort(state: NeutronState, row: PortRow): void {
  dissociatePort(state, row.id);
  releaseFixedIps(state, row.fixed_ips);
  state.ports.delete(row.id);
}

function portView(row: PortRow, actor: Actor): Record<string, unknown> {
  return {
    ...commonView(row),
    network_id: row.network_id,
    mac_address: row.mac_address,
    admin_state_up: row.admin_state_up,
    status: row.status,
    device_id: row.device_id,
    device_owner: row.device_owner,
    fixed_ips: row.fixed_ips,
    allowed_address_pairs: row.allowed_address_pairs,
    extra_dhcp_opts: [],
    security_groups: row.security_groups,
    'binding:vnic_type': 'normal',
    port_security_enabled: row.port_security_enabled,
    ...(actor.isAdmin
      ? {
          'binding:profile': {},
          'binding:host_id': row.host_id,
          'binding:vif_type': 'unbound',
          'binding:vif_details': {},
        }
      : {}),
  };
}
