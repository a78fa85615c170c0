import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Change, Committed, Entry, Scan, Snapshot, Transaction } from './ledger.ts';

/** Requests of the embedded ledger to its worker thread. They are answered in order. */
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
  | { readonly kind: 'failed'; readonly message: string };

/**
 * Converts a failure of the worker. Retrying doesn't help with a full disk: it is reported at once, and
 * nothing was written.
 */
export function sqliteError(message: string): CausewayError {
  const text = `the ledger's file: ${message}`;
  if (/disk is full|no space left/i.test(message)) {
    const hint =
      'No change can be stored until its disk has room again; stored data is not affected.';
    return new CausewayError('exhausted', text, { hint });
  }
  const hint = message.includes('locked')
    ? 'Another server has this file open. For several servers use etcd.'
    : 'Check the file, its directory and its disk.';
  return new CausewayError('unavailable', text, { hint });
}
