import type { Clock, Timer } from '@causeway/base/time/clock';
import { refreshHealth } from './health.ts';
import { immutable } from './refusals.ts';
import type { LoadBalancerRow, OctaviaRow, ProvisioningStatus } from './rows.ts';
import type { OctaviaState } from './state.ts';

/** One write to a load balancer, from the request to its completion. */
export interface Operation {
  readonly loadBalancer: LoadBalancerRow;
  readonly kind: 'create' | 'update' | 'delete';
  /** Runs at completion, before any status becomes ACTIVE. */
  readonly finish?: () => void;
}

/** Returns whether the operation fails. */
export type FailureRule = (operation: Operation) => boolean;

/**
 * The lock of a load balancer. A write is accepted only while the load balancer is ACTIVE, and sets the
 * affected objects to PENDING_*. After a delay, the objects are ACTIVE, deleted or in ERROR.
 */
export class Provisioning {
  private readonly state: OctaviaState;
  private readonly clock: Clock;
  private readonly running = new Map<string, Timer>();
  private readonly failures = new Set<FailureRule>();
  /** Children that stay in PENDING_CREATE; see `populatedCreateDefect`. */
  private readonly stuck = new Set<string>();
  private readonly hasPopulatedCreateDefect: boolean;
  /** Operations that are due but held back by `hold`. */
  private held: Operation[] | undefined;
  /** Duration of each operation. */
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

  /** Throws unless the load balancer accepts writes. `kind` and `id` name the locked object in the error. */
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

  /** Operations that match the rule end in ERROR. Returns a function that removes the rule. */
  failWhen(rule: FailureRule): () => void {
    this.failures.add(rule);
    return () => void this.failures.delete(rule);
  }

  /** Completes a running create immediately, for seeds. */
  settle(loadBalancer: LoadBalancerRow): void {
    this.running.get(loadBalancer.id)?.cancel();
    this.end({ loadBalancer, kind: 'create' });
  }

  stop(): void {
    for (const timer of this.running.values()) timer.cancel();
    this.running.clear();
  }

  /**
   * Holds back all completions until the returned function is called, for tests of a locked load balancer.
   */
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
      // The children of a failed load balancer keep their status.
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

  /** Releases an object from `stuck` after a later write to it. */
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
