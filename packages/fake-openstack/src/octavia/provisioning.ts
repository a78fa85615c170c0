import type { Clock, Timer } from '@causeway/base/time/clock';
import { refreshHealth } from './health.ts';
import { immutable } from './refusals.ts';
import type { LoadBalancerRow, OctaviaRow, ProvisioningStatus } from './rows.ts';
import type { OctaviaState } from './state.ts';

/** One write to a load balancer, from the request to the moment when it is done. */
export interface Operation {
  readonly loadBalancer: LoadBalancerRow;
  readonly kind: 'create' | 'update' | 'delete';
  /** Runs when the work is done, before anything is ACTIVE again. */
  readonly finish?: () => void;
}

/** How an operation is to end; undefined for well. */
export type FailureRule = (operation: Operation) => boolean;

/**
 * The lock on a load balancer. A write is accepted only while the load balancer is ACTIVE, sets what
 * it touches to PENDING_*, and some time later all of it is ACTIVE again, or gone, or in ERROR.
 */
export class Provisioning {
  private readonly state: OctaviaState;
  private readonly clock: Clock;
  private readonly running = new Map<string, Timer>();
  private readonly failures = new Set<FailureRule>();
  /** Children that stay in PENDING_CREATE for good: see `populatedCreateDefect`. */
  private readonly stuck = new Set<string>();
  private readonly hasPopulatedCreateDefect: boolean;
  /** Operations whose time has come while nothing may end. */
  private held: Operation[] | undefined;
  /** How long each operation takes. */
  delayMs: number;

  constructor(
    state: OctaviaState,
    clock: Clock,
    options: { delayMs: number; populatedCreateDefect: boolean },
  ) {
    this.state = state;
    this.clock = clock;
    this.delayMs = options.delayMs;
    this.hasPopulatedCreateDefect = options.populatedCreateDefect;
  }

  /** Throws unless the load balancer takes writes. The lock is named after what the caller works on. */
  requireMutable(loadBalancer: LoadBalancerRow, kind: string, id: string): void {
    if (loadBalancer.provisioning_status !== 'ACTIVE') throw immutable(kind, id);
  }

  begin(operation: Operation): void {
    const { loadBalancer, kind } = operation;
    const status: Record<Operation['kind'], ProvisioningStatus> = {
      create: 'PENDING_CREATE',
      update: 'PENDING_UPDATE',
      delete: 'PENDING_DELETE',
    };
    this.state.loadBalancers.update(loadBalancer, { provisioning_status: status[kind] });
    const timer = this.clock.timer(this.delayMs, () => this.end(operation));
    this.running.set(loadBalancer.id, timer);
  }

  /** Operations for which a rule holds end in ERROR. Answers with a function that drops the rule. */
  failWhen(rule: FailureRule): () => void {
    this.failures.add(rule);
    return () => void this.failures.delete(rule);
  }

  /** Ends a create that is running now, for seeds that cannot wait. */
  settle(loadBalancer: LoadBalancerRow): void {
    this.running.get(loadBalancer.id)?.cancel();
    this.end({ loadBalancer, kind: 'create' });
  }

  stop(): void {
    for (const timer of this.running.values()) timer.cancel();
    this.running.clear();
  }

  /** Nothing ends until the answer is called: for tests that look at a locked load balancer. */
  hold(): () => void {
    this.held ??= [];
    return () => {
      const waiting = this.held ?? [];
      this.held = undefined;
      for (const operation of waiting) this.end(operation);
    };
  }

  private end(operation: Operation): void {
    if (this.held !== undefined) {
      this.held.push(operation);
      return;
    }
    const { loadBalancer, kind, finish } = operation;
    this.running.delete(loadBalancer.id);
    const now = this.state.now();
    if ([...this.failures].some((rule) => rule(operation))) {
      // The children of a load balancer that could not be made stay as they were.
      this.state.loadBalancers.update(loadBalancer, {
        provisioning_status: 'ERROR',
        updated_at: now,
      });
      return;
    }
    finish?.();
    if (kind === 'delete') return;
    if (kind === 'create' && this.hasPopulatedCreateDefect) this.keepPending(loadBalancer);
    this.markActive(loadBalancer);
    refreshHealth(this.state, loadBalancer);
  }

  /** A later write to the object itself gets it going again. */
  release(id: string): void {
    this.stuck.delete(id);
  }

  private keepPending(loadBalancer: LoadBalancerRow): void {
    for (const listener of this.state.listenersOf(loadBalancer.id)) this.stuck.add(listener.id);
    for (const pool of this.state.poolsOf(loadBalancer.id)) {
      this.stuck.add(pool.id);
      for (const member of this.state.membersOf(pool.id)) this.stuck.add(member.id);
      const monitor = this.state.monitorOf(pool.id);
      if (monitor !== undefined) this.stuck.add(monitor.id);
    }
  }

  private markActive(loadBalancer: LoadBalancerRow): void {
    const { state } = this;
    const change = { provisioning_status: 'ACTIVE' as const, updated_at: state.now() };
    const isPending = (row: OctaviaRow) =>
      row.provisioning_status !== 'ACTIVE' && !this.stuck.has(row.id);
    for (const listener of state.listenersOf(loadBalancer.id).filter(isPending)) {
      state.listeners.update(listener, change);
    }
    for (const pool of state.poolsOf(loadBalancer.id)) {
      if (isPending(pool)) state.pools.update(pool, change);
      for (const member of state.membersOf(pool.id).filter(isPending)) {
        state.members.update(member, change);
      }
      const monitor = state.monitorOf(pool.id);
      if (monitor !== undefined && isPending(monitor)) {
        state.healthMonitors.update(monitor, change);
      }
    }
    state.loadBalancers.update(loadBalancer, change);
  }
}
