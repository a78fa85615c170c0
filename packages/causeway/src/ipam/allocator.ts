import { randomBytes } from 'node:crypto';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import { noMetrics, type Metrics } from '@causeway/base/observability/metrics';
import { KeyedQueue } from '@causeway/base/work/keyed-queue';
import { allocatorMetrics } from './allocator-metrics.ts';
import { authorise, type Caller, type Grant, type Permission } from './credential.ts';
import { put, type Changes, type Decide, type Decision } from './decision.ts';
import { Follower, isTransient } from './follower.ts';
import { keys } from './keys.ts';
import type { Ledger, Transaction, Write } from './ledger.ts';
import type { AuditRecord } from './records.ts';
import { Refusal } from './refusal.ts';
import type { View } from './view.ts';

export interface AllocatorOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Time limit of one call, without its time in a queue. */
  readonly callLimitMs?: number;
}

/** One change and its caller. */
export interface Call<T> {
  readonly caller: Caller;
  readonly needs: Permission;
  /**
   * Calls with the same queue key run one after another: in parallel they would only conflict in the ledger.
   */
  readonly queueKey: string;
  readonly decide: Decide<T>;
}

/** A transaction with an unknown outcome. The key of its audit record is unique to it. */
interface Attempt<T> {
  readonly mark: string;
  readonly answer: T;
}

/** After this many refused attempts, the contention is a defect. */
const mostAttempts = 100;

/** Carries out decisions: decides on the view, commits, and decides again if the ledger has changed. */
export class Allocator {
  readonly follower: Follower;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly #keyedQueue = new KeyedQueue();
  readonly #busy = new Set<string>();
  readonly #counters: ReturnType<typeof allocatorMetrics>;
  readonly #callLimitMs: number;
  #settled = Promise.withResolvers<undefined>();
  #changes = 0;
  readonly #name = randomBytes(6).toString('hex');

  constructor({ ledger, clock, log, metrics = noMetrics, callLimitMs = 15_000 }: AllocatorOptions) {
    this.ledger = ledger;
    this.clock = clock;
    this.#callLimitMs = callLimitMs;
    this.follower = new Follower(ledger, clock, log);
    this.#counters = allocatorMetrics(metrics);
  }

  get view(): View {
    return this.follower.view;
  }

  get now(): number {
    return this.clock.wallTime();
  }

  /** Answers a question about the view, as of an instant during the call. */
  async read<T>(
    { caller, needs }: Pick<Call<T>, 'caller' | 'needs'>,
    question: (view: View, grant: Grant) => T,
    signal: AbortSignal,
  ): Promise<T> {
    return withDeadline(this.clock, this.#callLimitMs, signal, 'the ledger', async (limit) => {
      await this.#barrier(limit);
      return question(this.view, authorise(this.view, caller, needs, this.now));
    });
  }

  /** Carries out the decision, with as many attempts as the time limit allows. */
  async change<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    const started = this.clock.monotonic();
    try {
      return await withDeadline(this.clock, this.#callLimitMs, signal, 'the ledger', (limit) =>
        this.#keyedQueue.run(call.queueKey, () => this.#attempts(call, limit), limit),
      );
    } catch (error) {
      if (error instanceof Refusal) this.#counters.refusals.add({ reason: error.reason });
      throw error;
    } finally {
      this.#counters.duration.observe({}, (this.clock.monotonic() - started) / 1000);
    }
  }

  /**
   * Commits writes that depend on nothing and may be repeated, such as heartbeats. Resolves when the view has
   * them.
   */
  async write(writes: readonly Write[], signal: AbortSignal): Promise<void> {
    await withDeadline(this.clock, this.#callLimitMs, signal, 'the ledger', async (limit) => {
      for (;;) {
        this.#refuseUnusable();
        try {
          const { revision } = await this.ledger.commit({ conditions: [], writes }, limit);
          await this.follower.reached(revision, limit);
          return;
        } catch (error) {
          if (!isTransient(error) || limit.aborted) throw error;
          await sleep(this.clock, 50, limit);
        }
      }
    });
  }

  /** Decisions on a view of a store that was put back would be wrong. */
  #refuseUnusable(): void {
    if (this.follower.isUsable) return;
    throw new CausewayError(
      'unavailable',
      'the ledger was put back to an earlier state; this server reads it again',
      { hint: 'Try again in a few seconds. The sites are recovering then.' },
    );
  }

  async #attempts<T>(call: Call<T>, signal: AbortSignal): Promise<T> {
    let fresh = false;
    const unknown: Attempt<T>[] = [];
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      this.#refuseUnusable();
      const { decision, grant } = this.#decide(call);
      switch (decision.kind) {
        case 'answer':
        case 'refuse': {
          if (!fresh) break;
          // An attempt with an unknown outcome may have made the change already.
          const applied = await this.#findApplied(unknown, signal);
          if (applied !== undefined) return applied.answer;
          if (decision.kind === 'refuse') throw decision.error;
          return decision.answer;
        }
        case 'busy':
          await this.#settled.promise;
          fresh = false;
          continue;
        case 'change': {
          const mark = keys.audit(this.now, this.#auditId());
          const outcome = await this.#commit(decision, grant, mark, signal);
          if (outcome === 'applied') return decision.answer;
          if (outcome === 'unknown') unknown.push({ mark, answer: decision.answer });
          // The refusal is newer than the call, and the view has caught up with it.
          if (outcome === 'refused') {
            fresh = true;
            continue;
          }
        }
      }
      // A decision without a change needs a view that is new enough, and no await between the two.
      await this.#barrier(signal);
      fresh = true;
    }
    throw new CausewayError('unavailable', 'too many changes at once: try again');
  }

  #decide<T>({ caller, needs, decide }: Call<T>): { decision: Decision<T>; grant: Grant } {
    const { now } = this;
    const noGrant: Grant = { actor: 'none', key: undefined, credential: undefined };
    try {
      const grant = authorise(this.view, caller, needs, now);
      return { decision: decide(this.view, { now, busy: this.#busy }, grant), grant };
    } catch (error) {
      const known = CausewayError.from(error);
      if (known.code === 'internal') throw known;
      return { decision: { kind: 'refuse', error: known }, grant: noGrant };
    }
  }

  async #commit<T>(
    change: Changes<T>,
    grant: Grant,
    mark: string,
    signal: AbortSignal,
  ): Promise<'applied' | 'refused' | 'unknown'> {
    const transaction = this.#transactionOf(change, grant, mark);
    const added = change.writes.map(({ key }) => key).filter((key) => !this.#busy.has(key));
    for (const key of added) this.#busy.add(key);
    try {
      const { applied, revision } = await this.ledger.commit(transaction, signal);
      await this.follower.reached(revision, signal);
      if (!applied) this.#counters.conflicts.add({});
      return applied ? 'applied' : 'refused';
    } catch (error) {
      // The transaction may have been applied, or may be applied later. Deciding again is safe: both attempts
      // compare a key that each of them writes.
      if (!isTransient(error) || signal.aborted) throw error;
      this.#counters.ambiguous.add({});
      return 'unknown';
    } finally {
      for (const key of added) this.#busy.delete(key);
      this.#settled.resolve(undefined);
      this.#settled = Promise.withResolvers();
    }
  }

  /** The attempt that was applied, if any: its audit record is in the ledger. */
  async #findApplied<T>(
    attempts: readonly Attempt<T>[],
    signal: AbortSignal,
  ): Promise<Attempt<T> | undefined> {
    for (const attempt of attempts) {
      const range = { from: attempt.mark, to: `${attempt.mark}~`, limit: 1, newestFirst: false };
      const found = await this.ledger.scan(range, signal);
      if (found.length > 0) return attempt;
    }
    return undefined;
  }

  #transactionOf<T>(
    change: Changes<T>,
    { key, credential, actor }: Grant,
    mark: string,
  ): Transaction {
    const reads = new Set([...(key === undefined ? [] : [key]), ...change.reads]);
    const writes = [...change.writes];
    if (change.audit !== undefined) {
      const audit: AuditRecord = { ...change.audit, at: this.now, actor };
      writes.push(put(mark, audit));
    }
    // The first use of a cluster's first credential proves that the cluster received it.
    const arrived = credential?.first === 'unused' && key !== undefined;
    if (arrived && change.writes.every((write) => write.key !== key)) {
      writes.push(put(key, { ...credential, first: 'used' }));
    }
    return {
      conditions: [...reads].map((read) => ({ key: read, revision: this.view.revisionOf(read) })),
      writes,
    };
  }

  /**
   * Unique among replicas, and ordered within a replica, so that changes of one millisecond keep their order.
   */
  #auditId(): string {
    this.#changes += 1;
    return `${String(this.#changes).padStart(8, '0')}-${this.#name}`;
  }

  /** Retries the barrier during short interruptions of the ledger. */
  async #barrier(signal: AbortSignal): Promise<void> {
    for (;;) {
      this.#refuseUnusable();
      try {
        await this.follower.barrier(signal);
        return;
      } catch (error) {
        this.#refuseUnusable();
        if (!isTransient(error) || signal.aborted) throw error;
        await sleep(this.clock, 50, signal);
      }
    }
  }
}
