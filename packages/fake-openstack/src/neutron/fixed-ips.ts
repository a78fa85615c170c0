import { parseAddress, type Address } from '@causeway/base/address/address';
import { isObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { slaacAddress } from './address-space.ts';
import { address, uuid } from './attributes.ts';
import { conflict } from './refusals.ts';
import type { FixedIpRow, SubnetRow } from './rows.ts';
import type { NeutronState } from './state.ts';
import { subnetNotFound } from './subnets.ts';

/** One requested entry of `fixed_ips`. */
interface Wanted {
  readonly subnetId: string | undefined;
  readonly address: Address | undefined;
}

export function readFixedIps(name: string, value: unknown): Wanted {
  const { subnet_id, ip_address } = isObject(value) ? (value as Record<string, unknown>) : {};
  return {
    subnetId: subnet_id === undefined ? undefined : (uuid(name, subnet_id) as string),
    address: ip_address === undefined ? undefined : (address(name, ip_address) as Address),
  };
}

/**
 * Allocates the addresses of a Neutron port: the requested ones or, by default, one of each family and one of
 * every IPv6 subnet with SLAAC. Allocates all of them or none.
 */
export function allocateFixedIps(
  state: NeutronState,
  networkId: string,
  mac: string,
  wanted: readonly Wanted[] | undefined,
): FixedIpRow[] {
  const taken: FixedIpRow[] = [];
  try {
    if (wanted === undefined) allocateAny(state, networkId, mac, taken);
    else for (const entry of wanted) taken.push(allocateOne(state, networkId, mac, entry));
    return taken;
  } catch (error) {
    releaseFixedIps(state, taken);
    throw error;
  }
}

export function releaseFixedIps(state: NeutronState, fixedIps: readonly FixedIpRow[]): void {
  for (const { subnet_id, ip_address } of fixedIps) {
    state.addresses.get(subnet_id)?.release(parseAddress(ip_address));
  }
}

function allocateAny(
  state: NeutronState,
  networkId: string,
  mac: string,
  taken: FixedIpRow[],
): void {
  const subnets = state.subnets.sort(state.subnets.by('network_id', networkId));
  const isManaged = (subnet: SubnetRow) => !isSelfConfigured(subnet);
  for (const family of [4, 6] as const) {
    const choices = subnets.filter((subnet) => subnet.ip_version === family && isManaged(subnet));
    if (choices.length > 0) taken.push(takeFromAny(state, networkId, choices));
  }
  for (const subnet of subnets.filter(isSelfConfigured)) taken.push(takeSlaac(state, subnet, mac));
}

function allocateOne(
  state: NeutronState,
  networkId: string,
  mac: string,
  wanted: Wanted,
): FixedIpRow {
  const subnets = state.subnets.by('network_id', networkId);
  if (wanted.subnetId === undefined) {
    if (wanted.address === undefined) return takeFromAny(state, networkId, subnets);
    const home = subnets.find((subnet) => isUsable(state, subnet, wanted.address));
    if (home === undefined) {
      throw new Refusal(
        400,
        `IP address ${wanted.address} is not a valid IP for any of the subnets on the specified network.`,
        { type: 'InvalidIpForNetwork' },
      );
    }
    return takeExactly(state, home, wanted.address);
  }
  const subnet = state.subnets.get(wanted.subnetId);
  if (subnet === undefined) throw subnetNotFound(wanted.subnetId);
  if (subnet.network_id !== networkId) {
    throw new Refusal(
      400,
      `Invalid input for operation: Failed to create port on network ${networkId}, because fixed_ips included invalid subnet ${subnet.id}.`,
      { type: 'InvalidInput' },
    );
  }
  if (wanted.address !== undefined) {
    if (!isUsable(state, subnet, wanted.address)) {
      throw new Refusal(
        400,
        `IP address ${wanted.address} is not a valid IP for the specified subnet.`,
        { type: 'InvalidIpForSubnet' },
      );
    }
    return takeExactly(state, subnet, wanted.address);
  }
  return isSelfConfigured(subnet)
    ? takeSlaac(state, subnet, mac)
    : takeFromAny(state, networkId, [subnet]);
}

function isSelfConfigured(subnet: SubnetRow): boolean {
  return subnet.ipv6_address_mode === 'slaac' || subnet.ipv6_address_mode === 'dhcpv6-stateless';
}

function isUsable(state: NeutronState, subnet: SubnetRow, wanted: Address | undefined): boolean {
  return wanted !== undefined && state.addresses.get(subnet.id)?.isUsable(wanted) === true;
}

function takeFromAny(
  state: NeutronState,
  networkId: string,
  subnets: readonly SubnetRow[],
): FixedIpRow {
  for (const subnet of subnets) {
    const free = state.addresses.get(subnet.id)?.takeNext();
    if (free !== undefined) return { subnet_id: subnet.id, ip_address: free };
  }
  throw conflict(
    'IpAddressGenerationFailure',
    `No more IP addresses available on network ${networkId}.`,
  );
}

function takeExactly(state: NeutronState, subnet: SubnetRow, wanted: Address): FixedIpRow {
  if (state.addresses.get(subnet.id)?.take(wanted) !== true) {
    throw conflict(
      'IpAddressAlreadyAllocated',
      `IP address ${wanted} already allocated in subnet ${subnet.id}`,
    );
  }
  return { subnet_id: subnet.id, ip_address: wanted };
}

function takeSlaac(state: NeutronState, subnet: SubnetRow, mac: string): FixedIpRow {
  const space = state.addresses.get(subnet.id);
  if (space === undefined) throw subnetNotFound(subnet.id);
  return takeExactly(state, subnet, slaacAddress(space.prefix, mac));
}
