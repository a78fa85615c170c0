import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { backoffDelay } from '@causeway/base/time/backoff';
import { sleep, type Clock, type Timer } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import type { KubeClient } from '../client/client.ts';
import { leading } from '../client/kube-metrics.ts';
import { Leadership } from './leadership.ts';
import {
  defaultLeaseTimes,
  leaseHeldBy,
  leaseReleased,
  observe,
  waitBeforeTaking,
  type LeaseTimes,
  type Observation,
} from './lease-record.ts';
import { keyOf, type ObjectName } from '../objects/object.ts';
import { withSlimMetadata } from '../cache/projection.ts';
import { Reflector } from '../cache/reflector.ts';
import { leases } from '../objects/resources.ts';
import { Store, whenSynced } from '../cache/store.ts';
import type { Lease } from '../objects/workload-objects.ts';

export interface ElectionOptions {
  /** Without a lease guard: the election writes the lease itself. */
  readonly client: KubeClient;
  readonly lease: Required<ObjectName>;
  /** Unique to this process; the pod's name with something random. */
  readonly identity: string;
  readonly times?: LeaseTimes;
  readonly clock: Clock;
  readonly random?: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  /**
   * Receives the check, before anything else. The check returns undefined if the leader is known, else the
   * reason.
   */
  readonly addCheck?: (name: string, check: () => string | undefined) => void;
}

/** The work of a leader. It must end soon after its signal aborts, or it is abandoned. */
export type LeaderWork = (leadership: Leadership, signal: AbortSignal) => Promise<void>;

interface Held {
  lease: Lease;
  readonly leadership: Leadership;
}

const releaseTimeoutMs = 3_000;
/** Work that continues for longer after its abort is abandoned, so that another candidate can lead. */
const windUpMs = 10_000;
/** After another candidate was first; grows to the renewal interval while the server has problems. */
const firstRetryMs = 100;

/**
 * Waits for the lease, then works while holding it. When the signal aborts, the work is stopped and the lease
 * released, so that the next candidate leads immediately. When the lease is lost, the work is stopped, and the
 * process is a candidate again. `work` starts from nothing each time, because all earlier knowledge may be
 * outdated. Throws if the work fails, or if it does not end: it can't be started beside itself.
 */
export async function runAsLeader(
  options: ElectionOptions,
  work: LeaderWork,
  signal: AbortSignal,
): Promise<void> {
  for (let term = 1; !signal.aborted; term += 1) {
    // Under a new name, the process waits like any other candidate until the lost lease has expired. Requests
    // of the earlier term have ended by then.
    const identity = term === 1 ? options.identity : `${options.identity}-${term}`;
    const election = new Election({ ...options, identity });
    const held = await election.acquire(signal);
    if (held === undefined) return;
    const lost = await election.lead(held, work, signal);
    if (lost === undefined) return;
    options.log.error({ error: lost }, 'this process no longer leads, and is a candidate again');
  }
}

class Election {
  readonly #options: ElectionOptions;
  readonly #times: LeaseTimes;
  readonly #log: Log;
  readonly #gauge;
  /** A candidate that can neither lead nor see the leader is not a useful standby. */
  #readiness: () => string | undefined = () => 'the lease has not been read yet';
  /** Why a free lease could not be taken. */
  #refusal: string | undefined;

  constructor(options: ElectionOptions) {
    const times = options.times ?? defaultLeaseTimes;
    if (!(times.retryMs < times.renewDeadlineMs && times.renewDeadlineMs < times.leaseMs)) {
      throw new CausewayError(
        'invalid',
        'the lease duration must exceed the renewal deadline, and that the renewal interval',
      );
    }
    this.#options = options;
    this.#times = times;
    this.#log = options.log.child({ lease: keyOf({ metadata: options.lease }) });
    this.#gauge = options.metrics.gauge(leading);
    this.#report(false);
    options.addCheck?.('lease', () => this.#readiness());
  }

  /** Waits until the lease is ours; undefined if the signal aborted first. */
  async acquire(signal: AbortSignal): Promise<Held | undefined> {
    const { clock, identity } = this.#options;
    const watching = new AbortController();
    const changed = new ChangeSignal(clock);
    let observed: Observation | undefined;
    const store = new Store<Lease>({ log: this.#log });
    store.onChange((change) => {
      observed =
        change.type === 'deleted' ? undefined : observe(observed, change.after, clock.monotonic());
      changed.notify();
    });
    const reflector = this.#reflector(store);
    this.#readiness = () => reflector.readiness() ?? this.#refusal;
    const running = reflector.run(watching.signal);
    try {
      await whenSynced([store], signal);
      for (let failures = 0; ; ) {
        const waitMs =
          observed === undefined ? 0 : waitBeforeTaking(observed, identity, clock.monotonic());
        if (waitMs > 0) {
          this.#refusal = undefined;
          failures = 0;
          await changed.wait(waitMs, signal);
          continue;
        }
        const held = await this.#take(observed?.lease, signal);
        if (held !== undefined) return held;
        // A change in the meantime may be our own, with a lost answer.
        failures += 1;
        await sleep(clock, this.#delayAfter(failures), signal);
      }
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      watching.abort();
      await running;
    }
  }

  /** Returns why the lease was lost; undefined after the signal or the end of the work. */
  async lead(
    held: Held,
    work: LeaderWork,
    signal: AbortSignal,
  ): Promise<CausewayError | undefined> {
    const { leadership } = held;
    const working = new AbortController();
    const renewing = new AbortController();
    const stop = () => working.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    leadership.renewedBy((inner) => this.#renewNow(held, inner));
    // The work has its own readiness checks.
    this.#readiness = () => undefined;
    this.#report(true);
    this.#log.info({ identity: this.#options.identity }, 'leading');
    // Renewed until the work has ended, so that it can still write while it shuts down.
    const renewal = this.#keepRenewing(held, renewing.signal).then((lost) => {
      if (lost !== undefined) working.abort(lost);
      return lost;
    });
    const end = await this.#ending(work(leadership, working.signal), working.signal);
    signal.removeEventListener('abort', stop);
    renewing.abort();
    const lost = await renewal;
    leadership.end();
    this.#report(false);
    // Its requests may still be in transit; the lease outlasts them.
    if (lost === undefined && end !== 'late') await this.#release(held.lease);
    if (lost !== undefined && end !== 'late') return lost;
    const reason = end === 'late' ? endless : end;
    if (reason !== undefined && !(signal.aborted && reason.code === 'aborted')) throw reason;
    return undefined;
  }

  /** The error of the work, if any, or `late` if it did not end after its abort. */
  async #ending(
    work: Promise<void>,
    signal: AbortSignal,
  ): Promise<CausewayError | 'late' | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<'late'>();
    let timer: Timer | undefined;
    const onAbort = () => {
      timer = this.#options.clock.timer(windUpMs, () => resolve('late'));
    };
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const ended = work.then(
      () => undefined,
      (thrown: unknown) => CausewayError.from(thrown),
    );
    const end = await Promise.race([ended, late]);
    signal.removeEventListener('abort', onAbort);
    timer?.cancel();
    return end;
  }

  #reflector(store: Store<Lease>): Reflector<Lease, Lease> {
    const { client, lease, clock, random = systemRandom, metrics } = this.#options;
    const { namespace, name } = lease;
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    const projection = withSlimMetadata<Lease>;
    const resource = leases;
    const log = this.#log;
    return new Reflector({
      client,
      resource,
      store,
      projection,
      selection,
      clock,
      random,
      log,
      metrics,
    });
  }

  /** Undefined if another candidate was first, or the server does not answer. */
  async #take(before: Lease | undefined, signal: AbortSignal): Promise<Held | undefined> {
    const { clock, lease } = this.#options;
    const started = clock.monotonic();
    try {
      const taken = await this.#write(before, signal, this.#times.renewDeadlineMs);
      const validUntil = started + this.#times.renewDeadlineMs;
      const leadership = new Leadership(keyOf({ metadata: lease }), clock, validUntil);
      return { lease: taken, leadership };
    } catch (thrown) {
      if (signal.aborted) throw thrown;
      const error = CausewayError.from(thrown);
      if (error.code !== 'conflict') {
        this.#refusal = `the lease could not be taken: ${error.message}`;
        this.#log.warn({ error }, 'the lease could not be taken');
      }
      return undefined;
    }
  }

  /** Returns undefined after an abort, else why the lease is lost. */
  async #keepRenewing(held: Held, signal: AbortSignal): Promise<CausewayError | undefined> {
    const { clock } = this.#options;
    for (;;) {
      try {
        await sleep(clock, this.#times.retryMs, signal);
        await this.#renewNow(held, signal);
      } catch (thrown) {
        if (signal.aborted) return undefined;
        const error = CausewayError.from(thrown);
        if (error.code === 'gone' || !held.leadership.isHeld) {
          return new CausewayError('unavailable', `the lease is lost: ${error.message}`, {
            cause: error,
          });
        }
        this.#log.warn({ error }, 'the lease could not be renewed yet');
      }
    }
  }

  async #renewNow(held: Held, signal: AbortSignal): Promise<void> {
    const started = this.#options.clock.monotonic();
    try {
      held.lease = await this.#renew(held, signal);
      held.leadership.extend(started + this.#times.renewDeadlineMs);
    } catch (error) {
      if (isErrorCode(error, 'gone')) held.leadership.end();
      throw error;
    }
  }

  async #renew(held: Held, signal: AbortSignal): Promise<Lease> {
    const { client, identity, lease } = this.#options;
    try {
      return await this.#write(held.lease, signal, held.leadership.remainingMs());
    } catch (error) {
      if (!isErrorCode(error, 'conflict') && !isErrorCode(error, 'not-found')) throw error;
    }
    // Another client has changed the lease: a label, a deletion, or the leadership itself.
    const timeoutMs = held.leadership.remainingMs();
    const current = await client.find(leases, lease, { signal, timeoutMs });
    const holder = current?.spec?.holderIdentity;
    if (current !== undefined && holder !== identity) {
      throw new CausewayError('gone', `${holder || 'another client'} has taken it over`);
    }
    return this.#write(current, signal, held.leadership.remainingMs());
  }

  #write(before: Lease | undefined, signal: AbortSignal, timeoutMs: number): Promise<Lease> {
    const { client, clock, identity, lease } = this.#options;
    const spec = leaseHeldBy(before, identity, this.#times, clock.wallTime());
    const options = { signal, timeoutMs };
    if (before === undefined)
      return client.create(leases, { metadata: { ...lease }, spec }, options);
    return client.update(leases, { ...before, spec }, options);
  }

  async #release(lease: Lease): Promise<void> {
    const { client, clock } = this.#options;
    try {
      const released = { ...lease, spec: leaseReleased(lease, clock.wallTime()) };
      await client.update(leases, released, { timeoutMs: releaseTimeoutMs });
      this.#log.info({}, 'the lease is released');
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      this.#log.warn({ error }, 'the lease could not be released; it expires on its own');
    }
  }

  #delayAfter(failures: number): number {
    const { random = systemRandom } = this.#options;
    const policy = { baseMs: firstRetryMs, maxMs: this.#times.retryMs, jitter: 0.5 };
    return backoffDelay(policy, failures, random);
  }

  #report(isLeading: boolean): void {
    this.#gauge.set({ lease: keyOf({ metadata: this.#options.lease }) }, isLeading ? 1 : 0);
  }
}

const endless = new CausewayError('internal', `the work did not end within ${windUpMs} ms`);

/** Waits for a delay or for a change, whichever comes first. */
class ChangeSignal {
  readonly #clock: Clock;
  #wake: AbortController | undefined;
  #isNotified = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  notify(): void {
    this.#isNotified = true;
    this.#wake?.abort();
  }

  async wait(delayMs: number, signal: AbortSignal): Promise<void> {
    const wake = new AbortController();
    this.#wake = wake;
    const isStopped = AbortSignal.any([signal, wake.signal]);
    try {
      if (!this.#isNotified) await sleep(this.#clock, delayMs, isStopped);
    } catch (error) {
      if (signal.aborted) throw error;
    } finally {
      this.#isNotified = false;
      this.#wake = undefined;
    }
  }
}
