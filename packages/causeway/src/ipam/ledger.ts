import { CausewayError } from '@causeway/base/error/causeway-error';

/**
 * The storage interface of the allocator: ordered keys with revisions, and compare-and-swap transactions. Two
 * implementations (`sqlite-ledger.ts`, `etcd-ledger.ts`) pass one contract suite.
 *
 * A revision counts committed transactions, so it orders everything that happened in a ledger.
 */
export interface Ledger {
  /** All entries with this key prefix, as of one revision. */
  load(prefix: string, signal: AbortSignal): Promise<Snapshot>;
  /** Entries from `from` (included) to `to` (excluded), in ascending or descending order of their keys. */
  scan(range: Scan, signal: AbortSignal): Promise<readonly Entry[]>;
  /**
   * Applies all writes if every condition holds, else nothing. When it rejects with anything but `invalid`,
   * the transaction may have been applied, or may be applied later. A transaction may be sent again only if
   * its own writes invalidate its conditions.
   */
  commit(transaction: Transaction, signal: AbortSignal): Promise<Committed>;
  /** A revision at least as new as every transaction that was acknowledged before the call. */
  barrier(signal: AbortSignal): Promise<number>;
  /**
   * Everything after the revision, in order, one batch for each transaction that touched the prefix. A batch
   * without changes means that nothing else happened up to its revision. Such a batch, which the caller may
   * request, also shows that the watch is up. Ends by throwing: `gone` when the revision has been compacted
   * away (load again), `aborted` on the signal.
   */
  watch(prefix: string, afterRevision: number, signal: AbortSignal): AsyncIterable<Batch>;
  /** Constant for the same store; different for a store that was made from a snapshot of it. */
  identity(signal: AbortSignal): Promise<string>;
  /** Asks the watches for a batch that reaches at least the newest revision. */
  requestProgress(): void;
  /** Accepts the present store as a new one. Until then, a store with another identity throws {@link PutBack}. */
  acceptStore(): void;
  close(): Promise<void>;
}

/** The store was restored to an earlier state, or replaced: views and revisions of before are wrong. */
export class PutBack extends CausewayError {
  constructor(message: string) {
    super('internal', message, {
      hint: 'A server that runs marks the sites as recovering and reads the ledger again. If none ran, run "causeway ipam recover".',
    });
  }
}

export interface Entry {
  readonly key: string;
  readonly value: string;
  /** Revision of the last transaction that wrote the key. */
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

/** A write without a value deletes the key. */
export interface Write {
  readonly key: string;
  readonly value: string | undefined;
}

export interface Transaction {
  readonly conditions: readonly Condition[];
  readonly writes: readonly Write[];
}

/** `revision`: of the transaction if it was applied, else of the ledger at the rejection. */
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

/** etcd's default limit; the embedded ledger uses the same limit. */
export const largestTransaction = 128;

/** Rejects transactions that one of the ledgers does not support. */
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

/** The smallest string that is greater than all strings with the prefix. */
export function endOfPrefix(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  return prefix.slice(0, -1) + String.fromCharCode(last + 1);
}
