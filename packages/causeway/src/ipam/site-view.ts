import { familyOf, type Address } from '@causeway/base/address/address';
import { buildPools } from './pool.ts';
import { PoolView } from './pool-view.ts';
import type {
  AddressRecord,
  BeatRecord,
  ClusterRecord,
  HeldAddress,
  QueueRecord,
  SiteRecord,
  TombstoneRecord,
  WaiterRecord,
} from './records.ts';

/** A record with its key. */
export interface Kept<T> {
  readonly key: string;
  readonly revision: number;
  readonly record: T;
}

export type Holdings = ReadonlyMap<Address, Kept<HeldAddress>>;
const nothing: Holdings = new Map();

/** The state of a site, with the indexes that decisions need. Only `View` changes it. */
export class SiteView {
  readonly name: string;
  site: Kept<SiteRecord> | undefined;
  pools: readonly PoolView[] = [];
  queue: Kept<QueueRecord> | undefined;
  readonly clusters = new Map<string, Kept<ClusterRecord>>();
  readonly beats = new Map<string, Kept<BeatRecord>>();
  readonly tombstones = new Map<string, Kept<TombstoneRecord>>();
  readonly addresses = new Map<Address, Kept<AddressRecord>>();
  readonly waiters = new Map<string, Kept<WaiterRecord>>();
  readonly #heldBy = new Map<string, Map<Address, Kept<HeldAddress>>>();
  readonly #owned = new Map<string, Set<Address>>();
  readonly #keptFor = new Map<string, Set<Address>>();

  constructor(name: string) {
    this.name = name;
  }

  setSite(site: Kept<SiteRecord> | undefined): void {
    this.site = site;
    this.pools = buildPools(site?.record.pools ?? []).map((pool) => new PoolView(pool));
    for (const kept of this.addresses.values()) this.#occupy(kept.record);
  }

  setAddress(address: Address, kept: Kept<AddressRecord> | undefined): void {
    const before = this.addresses.get(address);
    if (before !== undefined) this.#removeFromIndexes(before.record);
    if (kept === undefined) {
      this.addresses.delete(address);
      for (const pool of this.pools) pool.mark(address, familyOf(address), false);
      return;
    }
    this.addresses.set(address, kept);
    this.#index(kept);
    this.#occupy(kept.record);
  }

  setTombstone(epoch: string, kept: Kept<TombstoneRecord> | undefined): void {
    if (kept === undefined) {
      this.tombstones.delete(epoch);
      return;
    }
    this.tombstones.set(epoch, kept);
    for (const held of this.heldBy(epoch).values()) this.#occupy(held.record);
  }

  /** Addresses of a cluster's epoch. An epoch's name is unique among all clusters. */
  heldBy(epoch: string): Holdings {
    return this.#heldBy.get(epoch) ?? nothing;
  }

  /** The addresses of one owner in an epoch. */
  ownedBy(epoch: string, uid: string): Kept<HeldAddress>[] {
    const holdings = this.heldBy(epoch);
    const owned = this.#owned.get(`${epoch}/${uid}`) ?? [];
    return [...owned].flatMap((address) => holdings.get(address) ?? []);
  }

  /** Quarantined addresses that are kept for this Service of this cluster. */
  keptFor(clusterId: string, namespace: string, name: string): readonly Address[] {
    return [...(this.#keptFor.get(`${clusterId}/${namespace}/${name}`) ?? [])];
  }

  /** End of the address's quarantine: undefined when it is held by a current epoch, or free. */
  readonly restOf = (address: Address): number | undefined => {
    const record = this.addresses.get(address)?.record;
    if (record === undefined) return undefined;
    if (record.state === 'resting') return record.until;
    return this.tombstones.get(record.epoch)?.record.until;
  };

  /** End of the next quarantine of an address that can be assigned then. */
  nextExpiry(): number | undefined {
    const times = this.pools
      .map((pool) => pool.nextExpiry(this.restOf))
      .filter((time) => time !== undefined);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  poolOf(address: Address): PoolView | undefined {
    return this.pools.find((pool) => pool.sets[familyOf(address)].has(address));
  }

  #index(kept: Kept<AddressRecord>): void {
    const { record } = kept;
    if (record.state === 'resting') {
      const { keptFor } = record;
      if (keptFor === undefined) return;
      const name = `${record.id}/${keptFor.namespace}/${keptFor.name}`;
      addTo(this.#keptFor, name, record.address);
      return;
    }
    const holdings = this.#heldBy.get(record.epoch) ?? new Map<Address, Kept<HeldAddress>>();
    holdings.set(record.address, { ...kept, record });
    this.#heldBy.set(record.epoch, holdings);
    for (const owner of record.owners) {
      addTo(this.#owned, `${record.epoch}/${owner.uid}`, record.address);
    }
  }

  #removeFromIndexes(record: AddressRecord): void {
    if (record.state === 'resting') {
      const { keptFor } = record;
      if (keptFor === undefined) return;
      const name = `${record.id}/${keptFor.namespace}/${keptFor.name}`;
      removeFrom(this.#keptFor, name, record.address);
      return;
    }
    const holdings = this.#heldBy.get(record.epoch);
    holdings?.delete(record.address);
    if (holdings?.size === 0) this.#heldBy.delete(record.epoch);
    for (const owner of record.owners) {
      removeFrom(this.#owned, `${record.epoch}/${owner.uid}`, record.address);
    }
  }

  #occupy(record: AddressRecord): void {
    const family = familyOf(record.address);
    const until = this.restOf(record.address);
    for (const pool of this.pools) {
      pool.mark(record.address, family, true);
      if (until !== undefined) pool.rest(record.address, family, until);
    }
  }
}

function addTo<T>(index: Map<string, Set<T>>, name: string, value: T): void {
  const members = index.get(name);
  if (members === undefined) index.set(name, new Set([value]));
  else members.add(value);
}

function removeFrom<T>(index: Map<string, Set<T>>, name: string, value: T): void {
  const members = index.get(name);
  members?.delete(value);
  if (members?.size === 0) index.delete(name);
}
