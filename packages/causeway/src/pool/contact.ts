import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import type { ContactMemory } from './contact-memory.ts';
import type { PoolLedger } from './pool-ledger.ts';

export interface ContactOptions {
  readonly ledger: PoolLedger;
  readonly memory: ContactMemory;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
  /** Whether this cluster stops announcing when it has not heard of the ledger for the agreed time. */
  readonly selfWithdrawal: boolean;
}

/** The watchdog looks at least this often. */
const longestNapMs = 1_000;
/** A heartbeat waits no longer for an API server that hangs. */
const writeLimitMs = 5_000;

/**
 * Keeps in touch with the ledger by heartbeats. A cluster that opted in promises with each of them to
 * stop announcing a time after it: the ledger may then give its addresses to others although nobody
 * hears of it any more. The time runs from when the last answered heartbeat was sent, which is before
 * the ledger's own count begins.
 */
export class Contact {
  readonly #options: ContactOptions;
  #epoch: string | undefined;
  #problem: string | undefined = 'the ledger has not answered yet';
  /** Monotonic. */
  #lastContact = 0;
  /** The shortest that was promised since the last contact; undefined if nothing was. */
  #promisedMs: number | undefined;
  /** What the ledger expects to be promised. */
  #expectedMs: number | undefined;
  #wasWithdrawn = false;
  #isWritten = false;

  constructor(options: ContactOptions) {
    this.#options = options;
  }

  /** Whether the ledger answered the last time. */
  get isHeard(): boolean {
    return this.#problem === undefined;
  }

  /** Whether the time is over after which nothing may be announced. */
  get isWithdrawn(): boolean {
    return this.#promisedMs !== undefined && this.#now - this.#lastContact >= this.#promisedMs;
  }

  /**
   * Sends heartbeats until the signal fires. `onNews` is called when everything is to be looked at
   * again: the ledger answers after it didn't, the cluster was reclaimed in between, or the time to
   * withdraw has come. While `mayPromise` denies it, the promise to withdraw is not made.
   */
  async run(onChange: () => void, mayPromise: () => boolean, signal: AbortSignal): Promise<void> {
    await supervise(signal, {
      heartbeats: async (inner) => {
        while (!inner.aborted) {
          if (await this.#beat(mayPromise, inner)) onChange();
          await sleep(this.#options.clock, this.#options.everyMs, inner);
        }
      },
      watchdog: async (inner) => {
        while (!inner.aborted) {
          if (this.#hasTurned()) onChange();
          await sleep(this.#options.clock, this.#napMs(), inner);
        }
      },
    });
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  /** What a controller before this one promised holds for this one: to be known before anything is announced. */
  async remember(signal: AbortSignal): Promise<void> {
    const remembered = await this.#options.memory.read(signal);
    if (remembered === undefined) return;
    const sinceContactMs = Math.max(0, this.#options.clock.wallTime() - remembered.at);
    this.#lastContact = this.#now - sinceContactMs;
    this.#promisedMs = remembered.withdrawsAfterMs;
    this.#isWritten = true;
  }

  #hasTurned(): boolean {
    const isWithdrawn = this.isWithdrawn;
    const hasTurned = isWithdrawn !== this.#wasWithdrawn;
    this.#wasWithdrawn = isWithdrawn;
    if (hasTurned && isWithdrawn) {
      this.#options.log.error({}, 'no contact for as long as was promised: nothing is announced');
    }
    return hasTurned;
  }

  #napMs(): number {
    const due = (this.#promisedMs ?? Number.POSITIVE_INFINITY) - (this.#now - this.#lastContact);
    return due > 0 ? Math.min(due, longestNapMs) : longestNapMs;
  }

  /** Whether it brought news. */
  async #beat(mayPromise: () => boolean, signal: AbortSignal): Promise<boolean> {
    const { ledger, log } = this.#options;
    const sentAt = this.#now;
    try {
      const promise = mayPromise() ? await this.#promise(signal) : undefined;
      const answer = await ledger.heartbeat(promise, signal);
      const isNew = this.#problem !== undefined || answer.epoch !== this.#epoch;
      if (this.#epoch !== undefined && answer.epoch !== this.#epoch) {
        log.warn({}, 'this cluster was reclaimed: everything is asked for anew');
      }
      this.#epoch = answer.epoch;
      this.#problem = undefined;
      this.#lastContact = sentAt;
      this.#promisedMs = promise;
      this.#expectedMs = answer.selfWithdrawal?.afterMs;
      if (promise === undefined) await this.#forget(signal);
      return isNew;
    } catch (error) {
      if (signal.aborted) throw error;
      const { code, message } = CausewayError.from(error);
      if (this.#problem !== message) log.warn({ code, problem: message }, 'no heartbeat');
      this.#problem = message;
      return false;
    }
  }

  /**
   * What the next heartbeat promises, written down before it is sent: a promise outlives who made it.
   * Nothing while it can't be written: where the API server is away, nothing could be withdrawn either.
   */
  async #promise(signal: AbortSignal): Promise<number | undefined> {
    const { selfWithdrawal, memory, clock, log } = this.#options;
    const withdrawsAfterMs = selfWithdrawal ? this.#expectedMs : undefined;
    if (withdrawsAfterMs === undefined) return undefined;
    if (this.#promisedMs === undefined) this.#lastContact = this.#now;
    this.#promisedMs = Math.min(withdrawsAfterMs, this.#promisedMs ?? withdrawsAfterMs);
    const at = clock.wallTime() - (this.#now - this.#lastContact);
    this.#isWritten = true;
    try {
      const promised = { at, withdrawsAfterMs: this.#promisedMs };
      await withDeadline(clock, writeLimitMs, signal, 'writing a promise down', (limit) =>
        memory.write(promised, limit),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = CausewayError.from(error);
      log.warn({ problem: message }, 'no promise to withdraw: it can’t be written down');
      return undefined;
    }
    return withdrawsAfterMs;
  }

  /** What is left there binds the next controller to more than was promised: that does no harm. */
  async #forget(signal: AbortSignal): Promise<void> {
    if (!this.#isWritten) return;
    const { memory, clock } = this.#options;
    try {
      await withDeadline(clock, writeLimitMs, signal, 'removing a promise', (limit) =>
        memory.forget(limit),
      );
      this.#isWritten = false;
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = CausewayError.from(error);
      this.#options.log.warn({ problem: message }, 'an old promise to withdraw is not yet removed');
    }
  }
}
