import type { Element, PresentRuleset } from '../model/ruleset.ts';
import type { Transaction } from '../model/transaction.ts';

/** Counters of one element: new connections, and the bytes of their first packets. */
export interface ElementCount {
  readonly packets: bigint;
  readonly bytes: bigint;
}

/** Another program changed our table. `what` describes the change; the reaction is always a repair. */
export interface ForeignChange {
  readonly table: string;
  readonly what: string;
}

/**
 * Commits transactions to nftables. Three implementations: in memory, raw netlink, spawned `nft`;
 * one contract suite runs over all of them. A driver is bound to one table and never touches another.
 */
export interface Driver {
  readonly table: string;
  /** Whether the kernel prevents other programs from editing the table. False without a table. */
  readonly isOwned: boolean;
  /** Atomic: throws a TransactionError that names the cause, and nothing has changed. */
  apply(transaction: Transaction, signal?: AbortSignal): Promise<void>;
  /**
   * Lists the whole table; undefined if there is none. Its cost grows with the table. Use it for the first
   * read after a start, for diagnosis and for tests, never in a loop.
   */
  read(signal?: AbortSignal): Promise<PresentRuleset | undefined>;
  /** The elements of one set, also of a dynamic one. Empty if there is no such set. */
  elements(set: string, signal?: AbortSignal): Promise<readonly Element[]>;
  /** Counters of one counting set, by `elementId`. */
  counters(set: string, signal?: AbortSignal): Promise<ReadonlyMap<string, ElementCount>>;
  /**
   * Changes to our table by other programs, until the signal aborts. If the kernel lets us own the table
   * there are none: foreign edits fail. All changes after the `onListening` callback are reported.
   */
  watch(signal: AbortSignal, onListening?: () => void): AsyncIterable<ForeignChange>;
  /** Releases sockets, threads and ownership. The table stays. */
  close(): Promise<void>;
}
