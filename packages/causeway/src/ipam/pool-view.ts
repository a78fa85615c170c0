import type { Address, Family } from '@causeway/base/address/address';
import { createOccupancy, type Occupancy } from './occupancy.ts';
import { families, type Pool } from './pool.ts';
import { QuarantineOrder } from './quarantine-order.ts';

/**
 * End of an address's quarantine: undefined if it is held or free, a time in the past if any owner may get
 * it.
 */
export type RestOf = (address: Address) => number | undefined;

/** A pool and its taken addresses. An address is taken while it has a key, held or in quarantine. */
export class PoolView implements Pool {
  readonly spec: Pool['spec'];
  readonly sets: Pool['sets'];
  readonly #occupancy: Readonly<Record<Family, Occupancy>>;
  readonly #quarantineOrder: Readonly<Record<Family, QuarantineOrder>> = {
    4: new QuarantineOrder(),
    6: new QuarantineOrder(),
  };

  constructor(pool: Pool) {
    this.spec = pool.spec;
    this.sets = pool.sets;
    this.#occupancy = { 4: createOccupancy(pool.sets[4]), 6: createOccupancy(pool.sets[6]) };
  }

  mark(address: Address, family: Family, taken: boolean): void {
    this.#occupancy[family].mark(address, taken);
  }

  rest(address: Address, family: Family, until: number): void {
    if (this.sets[family].has(address)) this.#quarantineOrder[family].add(address, until);
  }

  /**
   * All addresses that can be assigned now: first those without a record, then those with an expired
   * quarantine.
   */
  *allocatable(family: Family, start: number, now: number, restOf: RestOf): Generator<Address> {
    yield* this.#occupancy[family].freeFrom(start);
    yield* this.#quarantineOrder[family].expired(now, restOf);
  }

  countAllocatable(family: Family, now: number, restOf: RestOf): number {
    const expired = [...this.#quarantineOrder[family].expired(now, restOf)].length;
    return Number(this.sets[family].size) - this.#occupancy[family].taken + expired;
  }

  nextExpiry(restOf: RestOf): number | undefined {
    const times = families
      .map((family) => this.#quarantineOrder[family].next(restOf))
      .filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
