import { CausewayError } from '@causeway/base/error/causeway-error';
import type { CallOptions, CreateOptions, Deletion } from '../call.ts';
import { collect } from '../collect.ts';
import { Fields } from '../fields.ts';
import { item, route } from '../route.ts';
import type { Session } from '../session.ts';
import { type Capabilities, lbaasV2Capabilities, supportedPart } from './capabilities.ts';
import type { ChildFilter, HealthMonitorFilter, LoadBalancing } from './contract.ts';
import { deleteUnlessUnderWay } from './delete-once.ts';
import { LbaasClient } from './lbaas-client.ts';
import { whenUnlocked } from './lock.ts';
import { hasChanges, type MemberChanges, memberChanges } from './member-changes.ts';
import { parseStatusTree } from './parsers.ts';
import type {
  AvailabilityZone,
  Flavor,
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Pool,
  Provider,
  StatusTree,
} from './resources.ts';
import type { ListenerTreeSpec, LoadBalancerSpec, MemberSpec, PoolTreeSpec } from './specs.ts';

/** LBaaS v2 as Neutron serves it since Mitaka. It splits operations that need several requests. */
export class LbaasV2 extends LbaasClient implements LoadBalancing {
  override readonly kind = 'lbaas-v2';

  constructor(session: Session) {
    super(session, session.service('network'), 'tenant_id');
  }

  override capabilities(): Capabilities {
    return lbaasV2Capabilities;
  }

  /**
   * Creates the load balancer and then its children one by one. After an interruption, a second call with
   * `mayExist` continues where the first one ended.
   */
  async createLoadBalancer(spec: LoadBalancerSpec, call: CreateOptions): Promise<LoadBalancer> {
    const { listeners = [], ...alone } = supportedPart(this.capabilities(), spec);
    return this.waiter.within(call, 'creating a load balancer', async (signal) => {
      const inner = { ...call, signal };
      const created = await this.balancers.create(alone, inner);
      for (const listener of listeners) await this.#addListener(created.id, listener, inner);
      return listeners.length === 0 ? created : this.loadBalancer(created.id, inner);
    });
  }

  deleteLoadBalancer(
    id: string,
    call: CallOptions & { readonly cascade?: boolean },
  ): Promise<Deletion> {
    return this.waiter.within(call, 'deleting a load balancer', async (signal) => {
      const inner = { ...call, signal };
      if (call.cascade === true) await this.#deleteChildren(id, inner);
      return this.#unlocked(id, inner, (own) => deleteUnlessUnderWay(this.balancers, id, own));
    });
  }

  statusTree(loadBalancerId: string, call: CallOptions): Promise<StatusTree> {
    const parse = (value: unknown) =>
      parseStatusTree(new Fields(value, 'answer').object('statuses'));
    const at = item(route`/lbaas/loadbalancers`, loadBalancerId, '/statuses');
    return this.client.get(at, parse, call);
  }

  override listeners(filter: ChildFilter, call: CallOptions): AsyncGenerator<Listener> {
    const { loadBalancerId: id } = filter;
    return only(super.listeners(filter, call), (listener) => isOrAny(id, listener.loadBalancerId));
  }

  override pools(filter: ChildFilter, call: CallOptions): AsyncGenerator<Pool> {
    const { loadBalancerId: id } = filter;
    return only(super.pools(filter, call), (pool) => isOrAny(id, pool.loadBalancerId));
  }

  override healthMonitors(
    filter: HealthMonitorFilter,
    call: CallOptions,
  ): AsyncGenerator<HealthMonitor> {
    const { poolId } = filter;
    return only(super.healthMonitors(filter, call), (monitor) => isOrAny(poolId, monitor.poolId));
  }

  /** Mitaka requires a subnet for every member; the default is the load balancer's subnet. */
  override async createMember(
    poolId: string,
    spec: MemberSpec,
    call: CreateOptions,
  ): Promise<Member> {
    if (spec.subnetId !== undefined) return super.createMember(poolId, spec, call);
    const id = await this.#loadBalancerOfPool(poolId, call);
    const { vipSubnetId } = await this.loadBalancer(id, call);
    const subnet = vipSubnetId === undefined ? {} : { subnetId: vipSubnetId };
    return super.createMember(poolId, { ...spec, ...subnet }, call);
  }

  async replaceMembers(
    poolId: string,
    wanted: readonly MemberSpec[],
    call: CallOptions & { readonly keepOthers?: boolean },
  ): Promise<'changed' | 'unchanged'> {
    const { members } = supportedPart(this.capabilities(), { members: wanted });
    return this.waiter.within(call, 'replacing members', async (signal) => {
      const inner = { ...call, signal };
      const current = await collect(this.members(poolId, inner));
      const changes = memberChanges(current, members, call.keepOthers === true);
      if (!hasChanges(changes)) return 'unchanged';
      await this.#changeMembers(poolId, changes, inner);
      return 'changed';
    });
  }

  /** Mitaka returns the providers of all its services in one list. */
  providers(call: CallOptions): Promise<Provider[]> {
    const parse = (value: unknown) =>
      new Fields(value, 'answer')
        .objects('service_providers')
        .filter((provider) => provider.text('service_type').startsWith('LOADBALANCER'))
        .map((provider) => ({ name: provider.string('name'), description: '' }));
    return this.client.get(route`/service-providers`, parse, call);
  }

  flavors(): Promise<Flavor[]> {
    return Promise.resolve([]);
  }

  availabilityZones(): Promise<AvailabilityZone[]> {
    return Promise.resolve([]);
  }

  #unlocked<T, Options extends CallOptions>(
    id: string,
    call: Options,
    write: (call: Options) => Promise<T>,
  ): Promise<T> {
    return whenUnlocked(this.waiter, id, (signal) => write({ ...call, signal }), call);
  }

  async #changeMembers(poolId: string, changes: MemberChanges, call: CallOptions): Promise<void> {
    const id = await this.#loadBalancerOfPool(poolId, call);
    for (const spec of changes.added) {
      await this.#unlocked(id, call, (own) => this.createMember(poolId, spec, own));
    }
    for (const { id: memberId, spec } of changes.changed) {
      await this.#unlocked(id, call, (own) => this.updateMember(poolId, memberId, spec, own));
    }
    for (const member of changes.removed) {
      await this.#unlocked(id, call, (own) => this.deleteMember(poolId, member.id, own));
    }
  }

  async #addListener(id: string, tree: ListenerTreeSpec, call: CreateOptions): Promise<void> {
    const { defaultPool, ...listener } = tree;
    const spec = { ...listener, loadBalancerId: id };
    const { id: listenerId } = await this.#unlocked(id, call, (own) =>
      this.createListener(spec, { ...own, mayExist: true }),
    );
    if (defaultPool !== undefined) await this.#addPool(id, listenerId, defaultPool, call);
  }

  async #addPool(
    id: string,
    listenerId: string,
    tree: PoolTreeSpec,
    call: CreateOptions,
  ): Promise<void> {
    const { members = [], healthMonitor, ...pool } = tree;
    const spec = { ...pool, parent: { listenerId } };
    const { id: poolId } = await this.#unlocked(id, call, (own) =>
      this.createPool(spec, { ...own, mayExist: true }),
    );
    await this.replaceMembers(poolId, members, call);
    if (healthMonitor === undefined) return;
    await this.#unlocked(id, call, (own) =>
      this.createHealthMonitor({ ...healthMonitor, poolId }, { ...own, mayExist: true }),
    );
  }

  /**
   * Deletes children before their parents and waits for each: Mitaka refuses to delete an object in use, with
   * another message than for a lock.
   */
  async #deleteChildren(id: string, call: CallOptions): Promise<void> {
    const remove = async (write: (own: CallOptions) => Promise<Deletion>) => {
      await this.#unlocked(id, call, write);
      await this.waiter.settled(id, call);
    };
    const pools = await collect(this.pools({ loadBalancerId: id }, call));
    for (const { id: poolId, healthMonitorId } of pools) {
      if (healthMonitorId !== undefined) {
        await remove((own) => this.deleteHealthMonitor(healthMonitorId, own));
      }
      await remove((own) => this.deletePool(poolId, own));
    }
    const listeners = await collect(this.listeners({ loadBalancerId: id }, call));
    for (const { id: listenerId } of listeners) {
      await remove((own) => this.deleteListener(listenerId, own));
    }
  }

  async #loadBalancerOfPool(poolId: string, call: CallOptions): Promise<string> {
    const pool = await this.pool(poolId, call);
    if (pool.loadBalancerId !== undefined) return pool.loadBalancerId;
    for (const listenerId of pool.listenerIds) {
      const { loadBalancerId } = await this.listener(listenerId, call);
      if (loadBalancerId !== undefined) return loadBalancerId;
    }
    throw new CausewayError('not-found', 'the pool belongs to no load balancer');
  }
}

async function* only<T>(
  objects: AsyncIterable<T>,
  isWanted: (object: T) => boolean,
): AsyncGenerator<T> {
  for await (const object of objects) if (isWanted(object)) yield object;
}

function isOrAny(wanted: string | undefined, present: string | undefined): boolean {
  return wanted === undefined || wanted === present;
}
