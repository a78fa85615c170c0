import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '@causeway/openstack/call';
import { collect } from '@causeway/openstack/collect';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type {
  HealthMonitor,
  LoadBalancer,
  Member,
} from '@causeway/openstack/load-balancing/resources';
import { bareBalancer, readMembers, type ObservedBalancer } from './observed.ts';

/** A difference between a list and the cached state. */
export interface Difference {
  readonly id: string;
  readonly kind: 'changed' | 'missing' | 'new';
}

/**
 * Caches the load balancers. Lists of the whole cloud fill the cache, and the controller's own writes update
 * it. Reads from the cache cost no call, so a reconcile without changes costs none.
 */
export class Inventory {
  readonly #balancing: LoadBalancing;
  readonly #known = new Map<string, ObservedBalancer>();
  readonly #byName = new Map<string, Set<string>>();
  /** Counts own writes, so that an older list does not undo them. */
  readonly #touched = new Map<string, number>();
  /** Load balancers that exist, but with an unreliable cached state. */
  readonly #distrusted = new Set<string>();
  #turn = 0;

  constructor(balancing: LoadBalancing) {
    this.#balancing = balancing;
  }

  get(id: string): ObservedBalancer | undefined {
    return this.#known.get(id);
  }

  named(name: string): readonly ObservedBalancer[] {
    return [...(this.#byName.get(name) ?? [])].flatMap((id) => this.#known.get(id) ?? []);
  }

  all(): Iterable<ObservedBalancer> {
    return this.#known.values();
  }

  /** Stores the result of a write or a fresh read. */
  put(observed: ObservedBalancer): void {
    const { id, name } = observed.balancer;
    this.#touch(id);
    this.#drop(id);
    this.#distrusted.delete(id);
    this.#known.set(id, observed);
    const named = this.#byName.get(name);
    if (named === undefined) this.#byName.set(name, new Set([id]));
    else named.add(id);
  }

  drop(id: string): void {
    this.#touch(id);
    this.#drop(id);
  }

  /**
   * A change was interrupted. The load balancer is read before the next use, and never treated as missing.
   */
  distrust(id: string): void {
    this.#touch(id);
    this.#distrusted.add(id);
  }

  /** The cached state, or a fresh read if there is none; undefined if the load balancer does not exist. */
  async current(id: string, call: CallOptions): Promise<ObservedBalancer | undefined> {
    const known = this.#known.get(id);
    return known === undefined || this.#distrusted.has(id) ? this.read(id, call) : known;
  }

  /** Reads one load balancer; undefined if it does not exist. */
  async read(id: string, call: CallOptions): Promise<ObservedBalancer | undefined> {
    let balancer: LoadBalancer;
    try {
      balancer = await this.#balancing.loadBalancer(id, call);
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      this.drop(id);
      return undefined;
    }
    if (balancer.provisioningStatus === 'DELETED') {
      this.drop(id);
      return undefined;
    }
    const listeners = await collect(this.#balancing.listeners({ loadBalancerId: id }, call));
    const pools = await collect(this.#balancing.pools({ loadBalancerId: id }, call));
    const monitors: HealthMonitor[] = [];
    const members = new Map<string, readonly Member[]>();
    for (const pool of pools) {
      if (pool.healthMonitorId !== undefined) {
        monitors.push(await this.#balancing.healthMonitor(pool.healthMonitorId, call));
      }
      members.set(pool.id, await readMembers(this.#balancing, pool.id, call));
    }
    const observed = { balancer, listeners, pools, monitors, members };
    this.put(observed);
    return observed;
  }

  /** Reads the members of one pool. */
  async readMembers(id: string, poolId: string, call: CallOptions): Promise<boolean> {
    const members = await readMembers(this.#balancing, poolId, call);
    const known = this.#known.get(id);
    if (known === undefined) return false;
    const before = known.members.get(poolId);
    if (before !== undefined && memberText(before) === memberText(members)) return false;
    this.#known.set(id, { ...known, members: new Map(known.members).set(poolId, members) });
    return true;
  }

  /**
   * Lists everything, with as many calls as the lists have pages. `tags` limits the load balancers where the
   * service has tags. Members are not listed, so their cached state stays.
   */
  async list(tags: readonly string[], call: CallOptions): Promise<Difference[]> {
    const began = this.#turn;
    const hasTags = this.#balancing.capabilities().tags && tags.length > 0;
    const filter: { readonly tags?: readonly string[] } = hasTags ? { tags } : {};
    const balancers = await collect(this.#balancing.loadBalancers(filter, call));
    const ids = new Set(balancers.map(({ id }) => id));
    const listeners = group(this.#balancing.listeners({}, call), (it) => it.loadBalancerId, ids);
    const pools = group(this.#balancing.pools({}, call), (it) => it.loadBalancerId, ids);
    const [ofBalancer, poolsOf] = await Promise.all([listeners, pools]);
    const poolIds = new Set([...poolsOf.values()].flat().map(({ id }) => id));
    const hasMonitors = [...poolsOf.values()]
      .flat()
      .some((pool) => pool.healthMonitorId !== undefined);
    const monitors = hasMonitors
      ? await group(this.#balancing.healthMonitors({}, call), (it) => it.poolId, poolIds)
      : new Map<string, never[]>();
    const differences: Difference[] = [];
    for (const balancer of balancers) {
      if (this.#isNewerThan(balancer.id, began)) continue;
      const own = poolsOf.get(balancer.id) ?? [];
      const difference = this.#compare({
        balancer,
        listeners: ofBalancer.get(balancer.id) ?? [],
        pools: own,
        monitors: own.flatMap(({ id }) => monitors.get(id) ?? []),
        members: new Map(),
      });
      if (difference !== undefined) differences.push({ id: balancer.id, kind: difference });
    }
    for (const [id, { balancer }] of [...this.#known]) {
      const isListed =
        filter.tags === undefined || tags.every((tag) => balancer.tags.includes(tag));
      if (!isListed || ids.has(id) || this.#isNewerThan(id, began)) continue;
      this.#drop(id);
      differences.push({ id, kind: 'missing' });
    }
    return differences;
  }

  #compare(seen: ObservedBalancer): 'changed' | 'new' | undefined {
    const { id } = seen.balancer;
    const before = this.#known.get(id);
    const touched = this.#touched.get(id) ?? 0;
    const members = new Map<string, readonly Member[]>();
    for (const { id: poolId, memberIds } of seen.pools) {
      const known = before?.members.get(poolId);
      // The list of pools names the members, so added and removed members are seen without a list of members.
      if (
        known !== undefined &&
        sameIds(
          known.map((member) => member.id),
          memberIds,
        )
      ) {
        members.set(poolId, known);
      }
    }
    this.put({ ...seen, members });
    this.#touched.set(id, touched);
    if (before === undefined) return 'new';
    return fingerprint({ ...seen, members }) === fingerprint(before) ? undefined : 'changed';
  }

  #isNewerThan(id: string, turn: number): boolean {
    return (this.#touched.get(id) ?? 0) > turn;
  }

  #touch(id: string): void {
    this.#turn += 1;
    this.#touched.set(id, this.#turn);
  }

  #drop(id: string): void {
    const name = this.#known.get(id)?.balancer.name;
    this.#known.delete(id);
    if (name === undefined) return;
    const named = this.#byName.get(name);
    named?.delete(id);
    if (named?.size === 0) this.#byName.delete(name);
  }

  /** Stores a new load balancer before its children are known. */
  putBare(balancer: LoadBalancer): ObservedBalancer {
    const known = this.#known.get(balancer.id);
    const observed = known === undefined ? bareBalancer(balancer) : { ...known, balancer };
    this.put(observed);
    return observed;
  }
}

async function group<T>(
  objects: AsyncIterable<T>,
  keyOf: (object: T) => string | undefined,
  keys: ReadonlySet<string>,
): Promise<Map<string, T[]>> {
  const groups = new Map<string, T[]>();
  for await (const object of objects) {
    const key = keyOf(object);
    if (key === undefined || !keys.has(key)) continue;
    const present = groups.get(key);
    if (present === undefined) groups.set(key, [object]);
    else present.push(object);
  }
  return groups;
}

function memberText(members: readonly Member[]): string {
  const rows = members.map(({ address, port, weight, name, provisioningStatus }) =>
    JSON.stringify([address, port, weight, name, provisioningStatus === 'ERROR']),
  );
  return rows.sort().join();
}

function sameIds(left: readonly string[], right: readonly string[]): boolean {
  return [...left].sort().join() === [...right].sort().join();
}

/** The parts of a load balancer that a plan may depend on, in a comparable form. */
function fingerprint({ balancer, listeners, pools, monitors, members }: ObservedBalancer): string {
  const byId = <T extends { id: string }>(objects: readonly T[]) =>
    [...objects].sort((left, right) => (left.id < right.id ? -1 : 1));
  return JSON.stringify([
    [balancer.description, balancer.tags, balancer.provider, balancer.vipAddress],
    balancer.provisioningStatus === 'ERROR',
    byId(listeners).map((it) => [
      ...[it.id, it.name, it.protocol, it.port, it.defaultPoolId, it.connectionLimit ?? -1],
      ...[it.allowedCidrs ?? [], it.tlsContainerRef, it.provisioningStatus === 'ERROR'],
      ...[it.insertHeaders, it.timeouts],
    ]),
    byId(pools).map((it) => [
      ...[it.id, it.name, it.protocol, it.algorithm, it.sessionPersistence?.type],
      it.provisioningStatus === 'ERROR',
    ]),
    byId(monitors).map((it) => [
      ...[it.id, it.name, it.type, it.delay, it.timeout, it.maxRetries],
      ...[it.maxRetriesDown, it.urlPath],
    ]),
    [...members.keys()].sort(),
  ]);
}
