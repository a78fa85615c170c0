import type { Address, Family } from '@causeway/base/address/address';
import {
  formatAddressRange,
  parseAddressRange,
  rangeOfPrefix,
  type AddressRange,
} from '@causeway/base/address/address-range';
import { AddressSet } from '@causeway/base/address/address-set';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePrefix } from '@causeway/base/address/prefix';
import type { Demand, PoolSpec } from './records.ts';

/** A pool ready for use: its assignable addresses, by family. */
export interface Pool {
  readonly spec: PoolSpec;
  readonly sets: Readonly<Record<Family, AddressSet>>;
}

export const families: readonly Family[] = [4, 6];

/**
 * The pools of a site. A gateway or network address of one pool is excluded from all of them: they are on the
 * same network. Throws `invalid` with the wrong text.
 */
export function buildPools(specs: readonly PoolSpec[]): Pool[] {
  const reserved = specs.flatMap(reservedAddresses);
  return specs.map((spec) => {
    const included = spec.addresses.map(parseAddressRange);
    const left = [...spec.exclude.map(parseAddressRange), ...reserved];
    const set = (family: Family) =>
      AddressSet.of(family, included).without(AddressSet.of(family, left));
    return { spec, sets: { 4: set(4), 6: set(6) } };
  });
}

function reservedAddresses({ addresses, gateways, subnets }: PoolSpec): AddressRange[] {
  const networks = [...addresses.filter((text) => text.includes('/')), ...subnets];
  return [...gateways.map(parseAddressRange), ...networks.flatMap(addressesOfTheNetworkItself)];
}

/**
 * The addresses that denote the network and not a host: IPv4's network and broadcast, IPv6's subnet-router
 * anycast. Networks of one or two addresses have none (RFC 3021, RFC 6164).
 */
function addressesOfTheNetworkItself(text: string): AddressRange[] {
  const { family, first, last } = rangeOfPrefix(parsePrefix(text));
  if (last - first < 2n) return [];
  const network = { family, first, last: first };
  return family === 4 ? [network, { family, first: last, last }] : [network];
}

export function poolHas(pool: Pool, address: Address): boolean {
  return pool.sets[4].has(address) || pool.sets[6].has(address);
}

/** Refuses a pool that shares addresses with another pool of the site. */
export function refuseOverlap(pool: Pool, others: Iterable<Pool>): void {
  for (const other of others) {
    if (other.spec.name === pool.spec.name) continue;
    for (const family of families) {
      const shared = pool.sets[family].overlap(other.sets[family]);
      if (shared === undefined) continue;
      throw new CausewayError(
        'conflict',
        `pool ${pool.spec.name} overlaps pool ${other.spec.name} in ${formatAddressRange(shared)}`,
        { hint: 'Exclude those addresses from one of the two pools.' },
      );
    }
  }
}

/**
 * The pools that can serve the demand, best first: pools dedicated to the purpose before common ones, then by
 * priority, then by name. Drained pools are excluded.
 */
export function eligiblePools<P extends Pool>(pools: Iterable<P>, demand: Demand): P[] {
  return [...pools]
    .filter(({ spec }) => {
      if (spec.drained || !spec.purposes.includes(demand.purpose)) return false;
      if (demand.pool !== undefined && demand.pool !== spec.name) return false;
      const wanted = Object.entries(demand.poolLabels ?? {});
      return wanted.every(([name, value]) => spec.labels[name] === value);
    })
    .sort(
      ({ spec: left }, { spec: right }) =>
        left.purposes.length - right.purposes.length ||
        right.priority - left.priority ||
        (left.name < right.name ? -1 : 1),
    );
}
