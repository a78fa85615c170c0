import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { isPending } from '@causeway/openstack/load-balancing/lock';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { whenAborted } from '@causeway/base/time/when-aborted';
import type { ReconcileReasons } from './reconcile-reasons.ts';
import type { OctaviaState } from './state.ts';

export interface PendingChangesOptions extends Pick<OctaviaState, 'balancing' | 'inventory'> {
  readonly reasons: ReconcileReasons;
  /** The tag of all load balancers of this cluster. */
  readonly tag: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The time in PENDING after which an Event is recorded. */
  readonly limitMs: number;
}

interface Watched {
  /** The keys of the Services: more than one if they share a load balancer. */
  readonly keys: Set<string>;
  readonly since: number;
}

/** Up to this number, load balancers are read one by one; more by one list. */
const mostSingleReads = 3;
const shortestPauseMs = 400;
const longestPauseMs = 5_000;

/**
 * Waits for load balancers in the background, so that no worker is blocked for minutes, and adds a reason to
 * reconcile their Services at the end. One list serves any number of load balancers.
 */
export class PendingChanges {
  readonly #options: PendingChangesOptions;
  readonly #watched = new Map<string, Watched>();
  /** The status of load balancers that are PENDING for too long. */
  readonly #overdue = new Map<string, string>();
  #running: AbortSignal | undefined;
  #poller: Promise<void> | undefined;

  constructor(options: PendingChangesOptions) {
    this.#options = options;
  }

  /** Runs until the signal fires and the current check ends. */
  async run(signal: AbortSignal): Promise<void> {
    this.#running = signal;
    await whenAborted(signal);
    await this.#poller;
  }

  /** The status that lasts too long; undefined if none does. */
  overdueStatus(id: string): string | undefined {
    return this.#overdue.get(id);
  }

  /** Must be called after the write to wait for. */
  watch(id: string, key: string): void {
    const { clock } = this.#options;
    if (this.#running === undefined || this.#running.aborted) return;
    const watched = this.#watched.get(id);
    if (watched !== undefined) {
      watched.keys.add(key);
      return;
    }
    this.#watched.set(id, { keys: new Set([key]), since: clock.monotonic() });
    this.#poller ??= this.#poll(this.#running).finally(() => {
      this.#poller = undefined;
    });
  }

  async #poll(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    while (this.#watched.size > 0 && !signal.aborted) {
      try {
        await sleep(clock, this.#pauseMs(), signal);
        await this.#check(signal);
      } catch (error) {
        if (signal.aborted) return;
        const known = CausewayError.from(error);
        log.warn({ error: known }, 'load balancers could not be read; trying again');
      }
    }
  }

  /** A tenth of the time waited so far: a change that takes minutes is not polled every second. */
  #pauseMs(): number {
    const now = this.#options.clock.monotonic();
    const ages = [...this.#watched.values()].map(({ since }) => now - since);
    const mean = ages.reduce((sum, age) => sum + age, 0) / Math.max(1, ages.length);
    return Math.min(longestPauseMs, Math.max(shortestPauseMs, mean / 10));
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { balancing, tag } = this.#options;
    // Only those that were watched before the list began: the list may be older than later writes.
    const ids = [...this.#watched.keys()];
    const listed = new Map<string, LoadBalancer>();
    if (ids.length > mostSingleReads && balancing.capabilities().tags) {
      for await (const balancer of balancing.loadBalancers({ tags: [tag] }, { signal })) {
        listed.set(balancer.id, balancer);
      }
    }
    for (const id of ids) this.#judge(id, listed.get(id) ?? (await this.#read(id, signal)));
  }

  #judge(id: string, balancer: LoadBalancer | undefined): void {
    const { clock, inventory, limitMs } = this.#options;
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    if (balancer !== undefined && isPending(balancer)) {
      if (this.#overdue.has(id) || clock.monotonic() - watched.since < limitMs) return;
      this.#overdue.set(id, balancer.provisioningStatus);
      this.#request(watched);
      return;
    }
    if (balancer === undefined) inventory.drop(id);
    else inventory.putBare(balancer);
    this.#watched.delete(id);
    this.#overdue.delete(id);
    this.#request(watched);
  }

  #request({ keys }: Watched): void {
    for (const key of keys) {
      this.#options.reasons.add(key, 'a change of its load balancer ended');
    }
  }

  async #read(id: string, signal: AbortSignal): Promise<LoadBalancer | undefined> {
    try {
      const balancer = await this.#options.balancing.loadBalancer(id, { signal });
      return balancer.provisioningStatus === 'DELETED' ? undefined : balancer;
    } catch (error) {
      if (isErrorCode(error, 'not-found')) return undefined;
      throw error;
    }
  }
}
