import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * The seam under the allocator: ordered keys with revisions, and transactions that compare and swap.
 * Two implementations (`sqlite-ledger.ts`, `etcd-ledger.ts`) pass one contract suite.
 *
 * A revision counts committed transactions, so it orders everything that ever happened in a ledger.
 */
export interface Ledger {
  /** All entries whose key begins with the prefix, as they were together at one revision. */
  load(prefix: string, signal: AbortSignal): Promise<Snapshot>;
  /** Entries from `from` (included) to `to` (left out), in the order of their keys or against it. */
  scan(range: Scan, signal: AbortSignal): Promise<readonly Entry[]>;
  /**
   * Applies all writes if every condition holds, or nothing. When it rejects with anything but
   * `invalid`, the transaction may have been applied, or be applied later: only a transaction whose
   * conditions its own writes invalidate may be sent again.
   */
  commit(transaction: Transaction, signal: AbortSignal): Promise<Committed>;
  /** A revision at least as new as every transaction that was acknowledged before the call. */
  barrier(signal: AbortSignal): Promise<number>;
  /**
   * Everything after the revision, in order, one batch for each transaction that touched the prefix.
   * A batch without changes says that nothing else happened up to its revision. Ends by throwing:
   * `gone` when the revision has been compacted away (load again), `aborted` on the signal.
   */
  watch(prefix: string, afterRevision: number, signal: AbortSignal): AsyncIterable<Batch>;
  /** The same for as long as this is the same store; another for one that was made from a snapshot of it. */
  identity(signal: AbortSignal): Promise<string>;
  /** Asks the watches for a batch that reaches at least the newest revision. */
  requestProgress(): void;
  close(): Promise<void>;
}

export interface Entry {
  readonly key: string;
  readonly value: string;
  /** Of the last transaction that wrote the key. */
  readonly revision: number;
}

export interface Snapshot {
  readonly revision: number;
  readonly entries: readonly Entry[];
}

export interface Scan {
  readonly from: string;
  readonly to: string;
  readonly limit: number;
  readonly newestFirst: boolean;
}

/** The key is still at this revision; 0 means that it doesn't exist. */
export interface Condition {
  readonly key: string;
  readonly revision: number;
}

/** A write without a value deletes. */
export interface Write {
  readonly key: string;
  readonly value: string | undefined;
}

export interface Transaction {
  readonly conditions: readonly Condition[];
  readonly writes: readonly Write[];
}

/** `revision`: of the transaction if it was applied, else of the ledger when it was refused. */
export interface Committed {
  readonly applied: boolean;
  readonly revision: number;
}

export interface Change {
  readonly key: string;
  /** Undefined: the key was deleted. */
  readonly value: string | undefined;
  readonly revision: number;
}

export interface Batch {
  readonly revision: number;
  readonly changes: readonly Change[];
}

/** etcd's default limit; the embedded ledger keeps to it so that both refuse the same. */
export const largestTransaction = 128;

/** Refuses what one of the ledgers could not carry out. */
export function refuseMalformed({ conditions, writes }: Transaction): void {
  const written = new Set(writes.map(({ key }) => key));
  if (written.size < writes.length) {
    throw new CausewayError('invalid', 'a transaction writes each key at most once');
  }
  if (Math.max(conditions.length, writes.length) > largestTransaction) {
    throw new CausewayError(
      'invalid',
      `a transaction has at most ${largestTransaction} operations`,
    );
  }
}

/** The smallest string that is greater than all that begin with the prefix. */
export function endOfPrefix(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
