import {
  addressFromInteger,
  addressToInteger,
  parseAddress,
  type Address,
} from '@causeway/base/address/address';
import {
  formatPrefix,
  parseInterface,
  parsePrefix,
  prefixContains,
  prefixFamily,
  prefixOf,
  prefixesOverlap,
  type Prefix,
} from '@causeway/base/address/prefix';
import type { Actor } from '../actor.ts';
import { isObject } from '../http/call.ts';
import { AddressSpace, defaultPools } from './address-space.ts';
import {
  address,
  anything,
  boolean,
  integer,
  listOf,
  object,
  oneOf,
  orNull,
  string,
  uuid,
  type Attributes,
} from './attributes.ts';
import { isNetworkVisible, networkNotFound } from './networks.ts';
import { badResource, conflict, invalidInput, notFound } from './refusals.ts';
import { Refusal } from '../http/refusal.ts';
import { commonView, type Resource, type Values } from './resource.ts';
import type { AllocationPool, SubnetRow } from './rows.ts';
import type { NeutronState } from './state.ts';

const ipv6Mode = orNull(oneOf('slaac', 'dhcpv6-stateful', 'dhcpv6-stateless'));

const attributes: Attributes = {
  network_id: { read: uuid, in: 'post', required: true },
  ip_version: { read: integer, in: 'post', required: true },
  cidr: { read: orNull(string), in: 'post' },
  name: { read: string, in: 'both' },
  description: { read: string, in: 'both' },
  gateway_ip: { read: orNull(address), in: 'both' },
  enable_dhcp: { read: boolean, in: 'both' },
  allocation_pools: { read: listOf(object), in: 'both' },
  dns_nameservers: { read: listOf(address), in: 'both' },
  host_routes: { read: listOf(object), in: 'both' },
  ipv6_ra_mode: { read: ipv6Mode, in: 'post' },
  ipv6_address_mode: { read: ipv6Mode, in: 'post' },
  service_types: { read: anything, in: 'both' },
};

export function subnetNotFound(id: string) {
  return notFound('SubnetNotFound', `Subnet ${id} could not be found.`);
}

export function subnetResource(state: NeutronState): Resource<SubnetRow> {
  const table = state.subnets;
  const isVisible = (row: SubnetRow, actor: Actor) =>
    actor.isAdmin ||
    row.project_id === actor.projectId ||
    state.networks.get(row.network_id)?.shared === true;
  return {
    path: 'subnets',
    collection: 'subnets',
    member: 'subnet',
    quota: 'subnet',
    table,
    attributes,
    isVisible,
    visible: (actor) => table.all().filter((row) => isVisible(row, actor)),
    view: subnetView,
    notFound: subnetNotFound,
    create: (values, actor, projectId) => createSubnet(state, values, actor, projectId),
    update: (row, values) => {
      table.update(row, values);
      if (values['allocation_pools'] !== undefined) {
        const pools = readPools(values['allocation_pools'], parsePrefix(row.cidr), row.gateway_ip);
        table.update(row, { allocation_pools: pools });
        state.addresses.get(row.id)?.setPools(pools);
      }
    },
    remove: (row) => {
      if (state.ports.count('subnet_id', row.id) > 0) {
        throw conflict(
          'SubnetInUse',
          `Unable to complete operation on subnet ${row.id}: One or more ports have an IP allocation from this subnet.`,
        );
      }
      table.delete(row.id);
      state.addresses.delete(row.id);
    },
  };
}

function createSubnet(
  state: NeutronState,
  values: Values,
  actor: Actor,
  projectId: string,
): SubnetRow {
  const networkId = values['network_id'] as string;
  const network = state.networks.get(networkId);
  if (network === undefined || !isNetworkVisible(network, actor)) throw networkNotFound(networkId);
  const enableDhcp = (values['enable_dhcp'] as boolean | undefined) ?? true;
  const prefix = readCidr(values, enableDhcp);
  const others = state.subnets.by('network_id', networkId);
  if (others.some((other) => prefixesOverlap(parsePrefix(other.cidr), prefix))) {
    throw invalidInput(
      `Requested subnet with cidr: ${formatPrefix(prefix)} for network: ${networkId} overlaps with another subnet.`,
    );
  }
  const gateway = readGateway(values, prefix);
  const pools = readPools(values['allocation_pools'], prefix, gateway);
  const row = state.subnets.insert({
    ...state.newRow(projectId, values),
    network_id: networkId,
    ip_version: prefixFamily(prefix),
    cidr: formatPrefix(prefix),
    gateway_ip: gateway,
    enable_dhcp: enableDhcp,
    allocation_pools: pools,
    ipv6_ra_mode: (values['ipv6_ra_mode'] as string | null | undefined) ?? null,
    ipv6_address_mode: (values['ipv6_address_mode'] as string | null | undefined) ?? null,
    dns_nameservers: (values['dns_nameservers'] as string[] | undefined) ?? [],
    host_routes: (values['host_routes'] as unknown[] | undefined) ?? [],
  });
  state.addresses.set(row.id, new AddressSpace(row.cidr, pools));
  return row;
}

function readCidr(values: Values, enableDhcp: boolean): Prefix {
  const cidr = values['cidr'];
  if (typeof cidr !== 'string') {
    throw badResource('subnets', 'a subnetpool must be specified in the absence of a cidr.');
  }
  let prefix: Prefix;
  try {
    // Host bits are dropped without an error.
    const { address: host, length } = parseInterface(cidr);
    prefix = prefixOf(host, length);
  } catch {
    throw invalidInput(`Invalid input for cidr. Reason: '${cidr}' is not a valid IP subnet.`);
  }
  const version = values['ip_version'];
  if (prefixFamily(prefix) !== version) {
    throw invalidInput(`cidr '${cidr}' does not match the ip_version '${String(version)}'.`);
  }
  if (enableDhcp && prefix.length >= (version === 4 ? 31 : 127)) {
    throw invalidInput(
      'Subnet has a prefix length that is incompatible with DHCP service enabled.',
    );
  }
  return prefix;
}

/**
 * The default is the first address. For IPv6 this is the network's own address, the subnet-router anycast
 * address.
 */
function readGateway(values: Values, prefix: Prefix): Address | null {
  const wanted = values['gateway_ip'];
  if (wanted !== undefined) return wanted as Address | null;
  if (prefixFamily(prefix) === 6) return prefix.address;
  return addressFromInteger(addressToInteger(prefix.address) + 1n, 4);
}

function readPools(wanted: unknown, prefix: Prefix, gateway: string | null): AllocationPool[] {
  if (wanted === undefined) return defaultPools(prefix, gateway);
  const pools = (wanted as unknown[]).map(readPool);
  for (const { start, end } of pools) {
    const name = `${start}-${end}`;
    if (!prefixContains(prefix, start) || !prefixContains(prefix, end)) {
      throw new Refusal(
        400,
        `The allocation pool ${name} spans beyond the subnet cidr ${formatPrefix(prefix)}.`,
        { type: 'OutOfBoundsAllocationPool' },
      );
    }
    if (gateway !== null && isBetween(gateway, start, end)) {
      throw conflict(
        'GatewayConflictWithAllocationPools',
        `Gateway ip ${gateway} conflicts with allocation pool ${name}.`,
      );
    }
  }
  return pools;
}

function readPool(pool: unknown): { start: Address; end: Address } {
  const { start, end } = isObject(pool) ? (pool as Record<string, unknown>) : {};
  return {
    start: address('allocation_pools', start) as Address,
    end: address('allocation_pools', end) as Address,
  };
}

function isBetween(text: string, start: Address, end: Address): boolean {
  const value = addressToInteger(parseAddress(text));
  return value >= addressToInteger(start) && value <= addressToInteger(end);
}

function subnetView(row: SubnetRow): Record<string, unknown> {
  return {
    ...commonView(row),
    network_id: row.network_id,
    ip_version: row.ip_version,
    subnetpool_id: null,
    enable_dhcp: row.enable_dhcp,
    ipv6_ra_mode: row.ipv6_ra_mode,
    ipv6_address_mode: row.ipv6_address_mode,
    gateway_ip: row.gateway_ip,
    cidr: row.cidr,
    allocation_pools: row.allocation_pools,
    host_routes: row.host_routes,
    dns_nameservers: row.dns_nameservers,
    service_types: [],
  };
}
