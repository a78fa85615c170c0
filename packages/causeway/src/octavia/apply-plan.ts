import type { CallOptions } from '@causeway/openstack/call';
import { OpenStackError } from '@causeway/openstack/error';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import { whenUnlocked } from '@causeway/openstack/load-balancing/lock';
import type {
  HealthMonitor,
  Listener,
  LoadBalancer,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';
import { readMembers, type ObservedBalancer } from './observed.ts';
import { partName, type ChangePlan, type ListenerPlan } from './plan-balancer.ts';
import type { WantedListener } from './desired.ts';

export interface Applied {
  readonly observed: ObservedBalancer;
  /** Listeners that Octavia does not support (501), by name. */
  readonly unsupported: ReadonlyMap<string, string>;
  /** Existing parts that Octavia can't change as wanted, by `partName`. */
  readonly left: ReadonlyMap<string, string>;
}

/** Applies a plan to Octavia, one write after another as the load balancer's lock allows. */
export async function applyPlan(
  balancing: LoadBalancing,
  observed: ObservedBalancer,
  plan: ChangePlan,
  call: CallOptions,
): Promise<Applied> {
  const work = new PlanWork(balancing, observed, call);
  if (plan.balancer !== undefined) await work.changeBalancer(plan.balancer);
  for (const id of plan.removeListeners) await work.removeListener(id);
  for (const id of plan.removePools) await work.removePool(id);
  for (const listener of plan.listeners) await work.listener(listener);
  return work.result();
}

class PlanWork {
  readonly #balancing: LoadBalancing;
  readonly #call: CallOptions;
  #balancer: LoadBalancer;
  readonly #listeners: Map<string, Listener>;
  readonly #pools: Map<string, Pool>;
  readonly #monitors: Map<string, HealthMonitor>;
  readonly #members: Map<string, readonly Member[]>;
  readonly #unsupported = new Map<string, string>();
  readonly #left = new Map<string, string>();
  #hasWritten = false;

  constructor(balancing: LoadBalancing, observed: ObservedBalancer, call: CallOptions) {
    this.#balancing = balancing;
    this.#call = call;
    this.#balancer = observed.balancer;
    this.#listeners = byId(observed.listeners);
    this.#pools = byId(observed.pools);
    this.#monitors = byId(observed.monitors);
    this.#members = new Map(observed.members);
  }

  result(): Applied {
    return {
      observed: {
        balancer: this.#balancer,
        listeners: [...this.#listeners.values()],
        pools: [...this.#pools.values()],
        monitors: [...this.#monitors.values()],
        members: this.#members,
      },
      unsupported: this.#unsupported,
      left: this.#left,
    };
  }

  async changeBalancer(change: NonNullable<ChangePlan['balancer']>): Promise<void> {
    const { id } = this.#balancer;
    this.#balancer = await this.#write((call) =>
      this.#balancing.updateLoadBalancer(id, change, call),
    );
  }

  async removeListener(id: string): Promise<void> {
    await this.#write((call) => this.#balancing.deleteListener(id, call));
    this.#listeners.delete(id);
  }

  async removePool(id: string): Promise<void> {
    await this.#write((call) => this.#balancing.deletePool(id, call));
    this.#pools.delete(id);
    this.#members.delete(id);
    for (const [monitorId, { poolId }] of this.#monitors) {
      if (poolId === id) this.#monitors.delete(monitorId);
    }
  }

  async listener(plan: ListenerPlan): Promise<void> {
    const { name } = plan.wanted;
    if (plan.pool.kind === 'create' && plan.pool.replaces !== undefined) {
      await this.removePool(plan.pool.replaces);
    }
    const without = (why: string) => void this.#unsupported.set(name, why);
    const stays = (part: Parameters<typeof partName>[0]) => (why: string) =>
      void this.#left.set(partName(part, name), why);
    const listenerId = await this.#ifSupported(
      () => this.#ensureListener(plan),
      plan.listener.kind === 'create' ? without : stays('listener'),
      presentId(plan.listener),
    );
    if (listenerId === undefined) return;
    const poolId = await this.#ifSupported(
      () => this.#ensurePool(plan, listenerId),
      plan.pool.kind === 'create' ? without : stays('pool'),
      presentId(plan.pool),
    );
    if (poolId === undefined) return;
    await this.#ifSupported(() => this.#ensureMembers(plan, poolId), stays('members'), undefined);
    await this.#ifSupported(() => this.#ensureMonitor(plan, poolId), stays('monitor'), undefined);
  }

  /** An unsupported request (501) does not affect existing objects. */
  async #ifSupported<T>(
    step: () => Promise<T>,
    refused: (why: string) => void,
    otherwise: T | undefined,
  ): Promise<T | undefined> {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof OpenStackError) || error.status !== 501) throw error;
      refused(error.serviceMessage ?? error.message);
      return otherwise;
    }
  }

  async #ensureListener({ listener: plan, wanted, mark }: ListenerPlan): Promise<string> {
    switch (plan.kind) {
      case 'keep':
        return plan.id;
      case 'update': {
        const { id, change } = plan;
        this.#listeners.set(
          id,
          await this.#write((call) => this.#balancing.updateListener(id, change, call)),
        );
        return id;
      }
      case 'create': {
        if (plan.replaces !== undefined) await this.removeListener(plan.replaces);
        const spec = {
          ...listenerSpec(wanted),
          ...marked(mark),
          loadBalancerId: this.#balancer.id,
        };
        const made = await this.#write((call) =>
          this.#balancing.createListener(spec, { ...call, mayExist: true }),
        );
        this.#listeners.set(made.id, made);
        return made.id;
      }
    }
  }

  async #ensurePool(
    { pool: plan, wanted, mark }: ListenerPlan,
    listenerId: string,
  ): Promise<string> {
    switch (plan.kind) {
      case 'keep':
        return plan.id;
      case 'update': {
        const { id, change } = plan;
        this.#pools.set(
          id,
          await this.#write((call) => this.#balancing.updatePool(id, change, call)),
        );
        return id;
      }
      case 'create': {
        const { name, protocol, algorithm, persistence } = wanted.pool;
        const persistent = persistence === null ? {} : { sessionPersistence: persistence };
        const common = { ...persistent, ...marked(mark) };
        const spec = { name, protocol, algorithm, ...common, parent: { listenerId } };
        const made = await this.#write((call) =>
          this.#balancing.createPool(spec, { ...call, mayExist: true }),
        );
        this.#pools.set(made.id, made);
        this.#members.set(made.id, []);
        const listener = this.#listeners.get(listenerId);
        if (listener !== undefined) {
          this.#listeners.set(listenerId, { ...listener, defaultPoolId: made.id });
        }
        return made.id;
      }
    }
  }

  async #ensureMembers(plan: ListenerPlan, poolId: string): Promise<void> {
    if (!plan.setMembers) return;
    for (const { id } of plan.brokenMembers) {
      await this.#write((call) => this.#balancing.deleteMember(poolId, id, call));
    }
    const { members } = plan.wanted.pool;
    await this.#write((call) => this.#balancing.replaceMembers(poolId, members, call));
    this.#members.set(poolId, await readMembers(this.#balancing, poolId, this.#call));
  }

  async #ensureMonitor({ monitor: plan, wanted }: ListenerPlan, poolId: string): Promise<void> {
    const { monitor } = wanted.pool;
    if (plan === undefined || plan.kind === 'keep') return;
    if (plan.kind === 'delete' || (plan.kind === 'create' && plan.replaces !== undefined)) {
      const id = plan.kind === 'delete' ? plan.id : (plan.replaces ?? '');
      await this.#write((call) => this.#balancing.deleteHealthMonitor(id, call));
      this.#monitors.delete(id);
    }
    if (plan.kind === 'delete' || monitor === undefined) return;
    const made =
      plan.kind === 'update'
        ? await this.#write((call) =>
            this.#balancing.updateHealthMonitor(plan.id, plan.change, call),
          )
        : await this.#write((call) =>
            this.#balancing.createHealthMonitor(
              { ...monitor, poolId },
              { ...call, mayExist: true },
            ),
          );
    this.#monitors.set(made.id, { ...made, poolId });
  }

  async #write<T>(write: (call: CallOptions) => Promise<T>): Promise<T> {
    const { waiter } = this.#balancing;
    // The previous write locked the load balancer: another write would be refused immediately.
    if (this.#hasWritten) await waiter.settled(this.#balancer.id, this.#call);
    this.#hasWritten = true;
    return whenUnlocked(
      waiter,
      this.#balancer.id,
      (signal) => write({ ...this.#call, signal }),
      this.#call,
    );
  }
}

/** A listener's spec without its parent. */
export function listenerSpec({ name, protocol, port, settings }: WantedListener) {
  const { allowedCidrs, ...rest } = settings;
  return {
    name,
    protocol,
    port,
    ...rest,
    ...(allowedCidrs === undefined || allowedCidrs === null ? {} : { allowedCidrs }),
  };
}

function presentId(plan: ListenerPlan['listener'] | ListenerPlan['pool']): string | undefined {
  return plan.kind === 'create' ? undefined : plan.id;
}

function marked(mark: string | undefined) {
  return mark === undefined ? {} : { description: mark };
}

function byId<T extends { readonly id: string }>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((object) => [object.id, object]));
}
