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
  /** Whether this cluster stops announcing after the agreed time without contact to the ledger. */
  readonly selfWithdrawal: boolean;
}

/** The maximum interval of the watchdog. */
const longestNapMs = 1_000;
/** The time limit of a write, so that a hung API server does not delay heartbeats. */
const writeLimitMs = 5_000;

/**
 * Keeps contact with the ledger by heartbeats. With self-withdrawal, each heartbeat promises to stop
 * announcing after a given time without contact. The ledger may then assign the addresses to other clusters
 * although this cluster does not answer. The time counts from when the last answered heartbeat was sent,
 * which is before the ledger's own count begins.
 */
export class Contact {
  readonly #options: ContactOptions;
  #epoch: string | undefined;
  #problem: string | undefined = 'the ledger has not answered yet';
  /** Monotonic time. */
  #lastContact = 0;
  /** The shortest promise since the last contact; undefined without a promise. */
  #promisedMs: number | undefined;
  /** The time that the ledger expects in the promise. */
  #expectedMs: number | undefined;
  #wasWithdrawn = false;
  #isWritten = false;

  constructor(options: ContactOptions) {
    this.#options = options;
  }

  /** Whether the ledger answered the last heartbeat. */
  get isHeard(): boolean {
    return this.#problem === undefined;
  }

  /** Whether the promised time is over, so that nothing may be announced. */
  get isWithdrawn(): boolean {
    return this.#promisedMs !== undefined && this.#now - this.#lastContact >= this.#promisedMs;
  }

  /**
   * Sends heartbeats until the signal fires. Calls `onChange` when all Services must be reconciled: the
   * ledger answers again, the cluster was reclaimed, or the time to withdraw has come. Makes no promise while
   * `mayPromise` returns false.
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

  /** Loads the promise of the previous controller, which binds this one. Must run before any announcement. */
  async load(signal: AbortSignal): Promise<void> {
    const stored = await this.#options.memory.read(signal);
    if (stored === undefined) return;
    const sinceContactMs = Math.max(0, this.#options.clock.wallTime() - stored.at);
    this.#lastContact = this.#now - sinceContactMs;
    this.#promisedMs = stored.withdrawsAfterMs;
    this.#isWritten = true;
  }

  #hasTurned(): boolean {
    const isWithdrawn = this.isWithdrawn;
    const hasTurned = isWithdrawn !== this.#wasWithdrawn;
    this.#wasWithdrawn = isWithdrawn;
    if (hasTurned && isWithdrawn) {
      this.#options.log.error(
        {},
        'no contact with the ledger for the promised time: nothing is announced',
      );
    }
    return hasTurned;
  }

  #napMs(): number {
    const due = (this.#promisedMs ?? Number.POSITIVE_INFINITY) - (this.#now - this.#lastContact);
    return due > 0 ? Math.min(due, longestNapMs) : longestNapMs;
  }

  /** Returns whether the Services must be reconciled. */
  async #beat(mayPromise: () => boolean, signal: AbortSignal): Promise<boolean> {
    const { ledger, log } = this.#options;
    const sentAt = this.#now;
    try {
      const promise = mayPromise() ? await this.#promise(signal) : undefined;
      const answer = await ledger.heartbeat(promise, signal);
      const isNew = this.#problem !== undefined || answer.epoch !== this.#epoch;
      if (this.#epoch !== undefined && answer.epoch !== this.#epoch) {
        log.warn({}, 'this cluster was reclaimed: all addresses are requested again');
      }
      this.#epoch = answer.epoch;
      this.#problem = undefined;
      this.#lastContact = sentAt;
      this.#promisedMs = promise;
      this.#expectedMs = answer.selfWithdrawal?.afterMs;
      if (promise === undefined) await this.#drop(signal);
      return isNew;
    } catch (error) {
      if (signal.aborted) throw error;
      const { code, message } = CausewayError.from(error);
      if (this.#problem !== message) log.warn({ code, problem: message }, 'heartbeat failed');
      this.#problem = message;
      return false;
    }
  }

  /**
   * The promise of the next heartbeat, stored before it is sent, because the promise outlives this process.
   * Undefined if it can't be stored: without the API server, nothing could be withdrawn either.
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
      await withDeadline(clock, writeLimitMs, signal, 'storing a promise', (limit) =>
        memory.write(promised, limit),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = CausewayError.from(error);
      log.warn({ problem: message }, 'no promise to withdraw: storing the promise failed');
      return undefined;
    }
    return withdrawsAfterMs;
  }

  /** A leftover promise binds the next controller to more than was promised, which does no harm. */
  async #drop(signal: AbortSignal): Promise<void> {
    if (!this.#isWritten) return;
    const { memory, clock } = this.#options;
    try {
      await withDeadline(clock, writeLimitMs, signal, 'removing a promise', (limit) =>
        memory.drop(limit),
      );
      this.#isWritten = false;
    } catch (error) {
      if (signal.aborted) throw error;
      const { message } = CausewayError.from(error);
      this.#options.log.warn({ problem: message }, 'an old promise to withdraw is not yet removed');
    }
  }
}
