import { CausewayError, isErrorCode, type ErrorCode } from '@causeway/base/error/causeway-error';
import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { type Clock, sleep } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Random } from '@causeway/base/simulation/random';
import type { CallOptions } from '../call.ts';
import { untilAborted } from '@causeway/base/time/until-aborted';
import type { LoadBalancer, ProvisioningStatus } from './resources.ts';

export interface WaiterParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The pause between two polls without a change. */
  readonly pace?: BackoffPolicy;
  /** Ends every wait. */
  readonly closed: AbortSignal;
}

/** Slow enough that polling does not delay the service's work. */
const defaultPace: BackoffPolicy = { baseMs: 400, maxMs: 5_000, jitter: 0.25 };
/** Up to this number, load balancers are read one by one; beyond it, all pending ones are listed. */
const mostSingleReads = 3;
const defaultDeadlineMs = 10 * 60_000;
const pendingStatuses: readonly ProvisioningStatus[] = [
  'PENDING_CREATE',
  'PENDING_UPDATE',
  'PENDING_DELETE',
];

interface Watched {
  readonly promise: Promise<LoadBalancer | undefined>;
  resolve(loadBalancer: LoadBalancer | undefined): void;
  reject(error: CausewayError): void;
  /** Number of waits for it; at zero the poller drops it. */
  waiting: number;
}

/** The part of LoadBalancing that the waiter needs. */
export interface Lookup {
  readonly kind: 'octavia' | 'lbaas-v2';
  loadBalancer(id: string, call: CallOptions): Promise<LoadBalancer>;
  loadBalancers(
    filter: { readonly provisioningStatus: ProvisioningStatus },
    call: CallOptions,
  ): AsyncIterable<LoadBalancer>;
}

/**
 * Waits for load balancers to leave their PENDING state. One poller serves all waits, and its cost does not
 * grow with the cloud: it lists the pending load balancers, and reads only those that left the list. It runs
 * only during waits.
 */
export class LoadBalancerWaiter {
  readonly #loadBalancing: Lookup;
  readonly #parts: WaiterParts;
  readonly #watched = new Map<string, Watched>();
  #poller: Promise<void> | undefined;
  #idleReads = 0;

  constructor(loadBalancing: Lookup, parts: WaiterParts) {
    this.#loadBalancing = loadBalancing;
    this.#parts = parts;
  }

  get kind(): Lookup['kind'] {
    return this.#loadBalancing.kind;
  }

  check(id: string, call: CallOptions): Promise<LoadBalancer> {
    return this.#loadBalancing.loadBalancer(id, call);
  }

  pause(pace: BackoffPolicy, failures: number, signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    return sleep(clock, backoffDelay(pace, failures, random), signal);
  }

  /** Runs several requests and waits with one deadline. */
  within<T>(
    call: CallOptions,
    what: string,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limitMs = call.deadlineMs ?? defaultDeadlineMs;
    return withDeadline(this.#parts.clock, limitMs, call.signal, what, work);
  }

  /** The load balancer once it is no longer pending: ACTIVE or ERROR. `not-found` if it was deleted. */
  async settled(id: string, call: CallOptions): Promise<LoadBalancer> {
    const loadBalancer = await this.#wait(id, call);
    if (loadBalancer !== undefined) return loadBalancer;
    throw new CausewayError('not-found', 'the load balancer is gone');
  }

  /** ACTIVE, or `conflict` if it ends in ERROR. */
  async active(id: string, call: CallOptions): Promise<LoadBalancer> {
    const loadBalancer = await this.settled(id, call);
    if (loadBalancer.provisioningStatus === 'ACTIVE') return loadBalancer;
    throw inError(loadBalancer);
  }

  /**
   * Waits until a deleted load balancer no longer exists. `conflict` if it ends in ERROR or continues to
   * exist.
   */
  async gone(id: string, call: CallOptions): Promise<void> {
    const left = await this.#wait(id, call);
    if (left !== undefined) throw inError(left);
  }

  async #wait(id: string, call: CallOptions): Promise<LoadBalancer | undefined> {
    const watched = this.#watch(id);
    try {
      return await this.within(call, 'waiting', (signal) => untilAborted(watched.promise, signal));
    } finally {
      watched.waiting -= 1;
      if (watched.waiting === 0 && this.#watched.get(id) === watched) this.#watched.delete(id);
    }
  }

  #watch(id: string): Watched {
    let watched = this.#watched.get(id);
    if (watched === undefined) {
      watched = { ...Promise.withResolvers<LoadBalancer | undefined>(), waiting: 0 };
      watched.promise.catch(() => undefined);
      this.#watched.set(id, watched);
      this.#idleReads = 0;
    }
    watched.waiting += 1;
    if (this.#poller === undefined) {
      this.#poller = this.#poll().finally(() => {
        this.#poller = undefined;
      });
    }
    return watched;
  }

  async #poll(): Promise<void> {
    const { clock, random, log, pace = defaultPace, closed: signal } = this.#parts;
    while (this.#watched.size > 0) {
      try {
        this.#idleReads += 1;
        await sleep(clock, backoffDelay(pace, Math.ceil(this.#idleReads / 3), random), signal);
        await this.#readAll(signal);
      } catch (error) {
        const known = CausewayError.from(error);
        if (!signal.aborted && passing.has(known.code)) {
          log.warn({ error: known }, 'load balancers could not be read; trying again');
          continue;
        }
        for (const [id, watched] of this.#watched) this.#finish(id, () => watched.reject(known));
      }
    }
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    const ids = [...this.#watched.keys()];
    const pending = ids.length > mostSingleReads ? await this.#pending(signal) : undefined;
    const questions = ids.filter((id) => pending?.has(id) !== true);
    await Promise.all(questions.map((id) => this.#readOne(id, signal)));
  }

  async #pending(signal: AbortSignal): Promise<Set<string>> {
    const ids = new Set<string>();
    for (const provisioningStatus of pendingStatuses) {
      for await (const { id } of this.#loadBalancing.loadBalancers(
        { provisioningStatus },
        { signal },
      )) {
        ids.add(id);
      }
    }
    return ids;
  }

  async #readOne(id: string, signal: AbortSignal): Promise<void> {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    try {
      const loadBalancer = await this.#loadBalancing.loadBalancer(id, { signal });
      const { provisioningStatus } = loadBalancer;
      if (pendingStatuses.includes(provisioningStatus)) return;
      const result = provisioningStatus === 'DELETED' ? undefined : loadBalancer;
      this.#finish(id, () => watched.resolve(result));
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
      this.#finish(id, () => watched.resolve(undefined));
    }
  }

  #finish(id: string, settle: () => void): void {
    this.#watched.delete(id);
    this.#idleReads = 0;
    settle();
  }
}

/** Transient failures; the deadline of each wait still applies. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['unavailable', 'timeout', 'conflict']);

function inError(loadBalancer: LoadBalancer): CausewayError {
  return new CausewayError(
    'conflict',
    `the load balancer has the unexpected status ${loadBalancer.provisioningStatus}`,
    {
      hint: 'See the log of the load balancing service for the cause.',
    },
  );
}
