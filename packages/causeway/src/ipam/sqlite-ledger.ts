import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy } from '@causeway/base/time/clock';
import {
  refuseMalformed,
  type Batch,
  type Committed,
  type Entry,
  type Ledger,
  type Scan,
  type Snapshot,
  type Transaction,
} from './ledger.ts';
import { RecentBatches } from './recent-batches.ts';
import {
  sqliteError,
  type CommitResult,
  type SqliteAnswer,
  type SqliteRequest,
} from './sqlite-protocol.ts';

interface Pending<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (error: CausewayError) => void;
}

/**
 * The ledger in one SQLite file: nothing to install, one server. A transaction is acknowledged when it is on
 * the disk; transactions that arrive while the disk is busy are committed together.
 */
export class SqliteLedger implements Ledger {
  readonly #worker: Worker;
  readonly #answers: Pending<SqliteAnswer>[] = [];
  readonly #recent: RecentBatches;
  #waiting: ({ readonly transaction: Transaction } & Pending<Committed>)[] = [];
  #committing = false;
  #broken: CausewayError | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    this.#recent = new RecentBatches();
    worker.on('message', (answer: SqliteAnswer) => this.#answers.shift()?.resolve(answer));
    worker.on('error', (error) => this.#break(CausewayError.from(error).message));
    worker.on('exit', () => this.#break('its thread has ended'));
  }

  static async open(file: string): Promise<SqliteLedger> {
    // The compiled package has the worker as .js, the sources as .ts.
    const extension = path.extname(import.meta.url);
    const worker = new Worker(new URL(`./sqlite-ledger.worker${extension}`, import.meta.url));
    const ledger = new SqliteLedger(worker);
    try {
      const opened = await ledger.#ask({ kind: 'open', file: path.resolve(file) });
      ledger.#recent.startAt(opened.kind === 'done' ? opened.revision : 0);
      return ledger;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  async load(prefix: string, _signal: AbortSignal): Promise<Snapshot> {
    const answer = await this.#ask({ kind: 'load', prefix });
    if (answer.kind !== 'snapshot') throw unexpected(answer);
    return answer.snapshot;
  }

  async scan(scan: Scan, _signal: AbortSignal): Promise<readonly Entry[]> {
    const answer = await this.#ask({ kind: 'scan', scan });
    if (answer.kind !== 'entries') throw unexpected(answer);
    return answer.entries;
  }

  async commit(transaction: Transaction, signal: AbortSignal): Promise<Committed> {
    refuseMalformed(transaction);
    if (signal.aborted) throw abortedBy(signal);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ transaction, resolve, reject });
      if (!this.#committing) void this.#commitWaiting();
    });
  }

  barrier(_signal: AbortSignal): Promise<number> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    return Promise.resolve(this.#recent.revision);
  }

  /** A copy of the file is indistinguishable from the file: restore SQLite with `restore`, not with `cp`. */
  identity(_signal: AbortSignal): Promise<string> {
    return Promise.resolve('sqlite');
  }

  watch(prefix: string, afterRevision: number, signal: AbortSignal): AsyncIterable<Batch> {
    return this.#recent.follow(prefix, afterRevision, signal);
  }

  /** The watches get all changes at once. */
  requestProgress(): void {}

  acceptStore(): void {}

  async close(): Promise<void> {
    if (this.#broken !== undefined) return;
    await this.#ask({ kind: 'close' }).catch(() => undefined);
    await this.#worker.terminate();
  }

  /** One commit at a time; transactions that arrive during it share the next one. Never rejects. */
  async #commitWaiting(): Promise<void> {
    this.#committing = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, mostTogether);
      try {
        const results = await this.#commitTogether(group.map(({ transaction }) => transaction));
        for (const [index, { resolve, reject }] of group.entries()) {
          const result = results[index];
          if (result === undefined) reject(new CausewayError('internal', 'no result'));
          else resolve({ applied: result.applied, revision: result.revision });
        }
      } catch (error) {
        for (const { reject } of group) reject(CausewayError.from(error));
      }
    }
    this.#committing = false;
  }

  async #commitTogether(transactions: readonly Transaction[]): Promise<readonly CommitResult[]> {
    const answer = await this.#ask({ kind: 'commit', transactions });
    if (answer.kind !== 'committed') throw unexpected(answer);
    for (const { applied, revision, changes } of answer.results) {
      if (applied) this.#recent.add({ revision, changes });
    }
    return answer.results;
  }

  async #ask(request: SqliteRequest): Promise<SqliteAnswer> {
    if (this.#broken !== undefined) throw this.#broken;
    const answer = await new Promise<SqliteAnswer>((resolve, reject) => {
      this.#answers.push({ resolve, reject });
      this.#worker.postMessage(request);
    });
    if (answer.kind !== 'failed') return answer;
    throw sqliteError(answer.message);
  }

  #break(why: string): void {
    this.#broken ??= new CausewayError('internal', `the embedded ledger has stopped: ${why}`);
    for (const { reject } of this.#answers.splice(0)) reject(this.#broken);
    this.#recent.end(this.#broken);
  }
}

/** Bounds the time that one commit blocks the worker. */
const mostTogether = 256;

function unexpected(answer: SqliteAnswer): CausewayError {
  return new CausewayError('internal', `the embedded ledger answered with ${answer.kind}`);
}
