import { endOfPrefix, refuseMalformed } from '../../packages/causeway/src/ipam/ledger.ts';
import type {
  Batch,
  Committed,
  Entry,
  Ledger,
  Scan,
  Snapshot,
  Transaction,
} from '../../packages/causeway/src/ipam/ledger.ts';
import { RecentBatches } from '../../packages/causeway/src/ipam/recent-batches.ts';

/** A ledger in memory, for simulations: it never waits. */
export class MemoryLedger implements Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly #recent = new RecentBatches();

  load(prefix: string, _signal: AbortSignal): Promise<Snapshot> {
    const entries = this.#between(prefix, endOfPrefix(prefix));
    return Promise.resolve({ revision: this.#recent.revision, entries });
  }

  scan({ from, to, limit, newestFirst }: Scan, _signal: AbortSignal): Promise<readonly Entry[]> {
    const entries = this.#between(from, to);
    if (newestFirst) entries.reverse();
    return Promise.resolve(entries.slice(0, limit));
  }

  async commit(transaction: Transaction, _signal: AbortSignal): Promise<Committed> {
    refuseMalformed(transaction);
    const holds = transaction.conditions.every(
      ({ key, revision }) => (this.#entries.get(key)?.revision ?? 0) === revision,
    );
    if (!holds) return { applied: false, revision: this.#recent.revision };
    const revision = this.#recent.revision + 1;
    for (const { key, value } of transaction.writes) {
      if (value === undefined) this.#entries.delete(key);
      else this.#entries.set(key, { key, value, revision });
    }
    const changes = transaction.writes.map((write) => ({ ...write, revision }));
    this.#recent.add({ revision, changes });
    return { applied: true, revision };
  }

  barrier(_signal: AbortSignal): Promise<number> {
    return Promise.resolve(this.#recent.revision);
  }

  watch(prefix: string, afterRevision: number, signal: AbortSignal): AsyncIterable<Batch> {
    return this.#recent.follow(prefix, afterRevision, signal);
  }

  identity(_signal: AbortSignal): Promise<string> {
    return Promise.resolve('memory');
  }

  requestProgress(): void {}

  acceptStore(): void {}

  close(): Promise<void> {
    return Promise.resolve();
  }

  #between(from: string, to: string): Entry[] {
    return [...this.#entries.values()]
      .filter(({ key }) => key >= from && key < to)
      .sort((left, right) => (left.key < right.key ? -1 : 1));
  }
}
