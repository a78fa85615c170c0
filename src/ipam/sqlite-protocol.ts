import type { Change, Committed, Entry, Scan, Snapshot, Transaction } from './ledger.ts';

/** What the embedded ledger asks of its worker thread. Requests are answered in order. */
export type SqliteRequest =
  | { readonly kind: 'open'; readonly file: string }
  | { readonly kind: 'load'; readonly prefix: string }
  | { readonly kind: 'scan'; readonly scan: Scan }
  /** Many transactions, one commit to the disk. */
  | { readonly kind: 'commit'; readonly transactions: readonly Transaction[] }
  | { readonly kind: 'close' };

export interface CommitResult extends Committed {
  readonly changes: readonly Change[];
}

export type SqliteAnswer =
  | { readonly kind: 'done'; readonly revision: number }
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'entries'; readonly entries: readonly Entry[] }
  | { readonly kind: 'committed'; readonly results: readonly CommitResult[] }
  | { readonly kind: 'failed'; readonly message: string; readonly locked: boolean };
