import type { PresentRuleset } from '../model/ruleset.ts';
import type { Transaction } from '../model/transaction.ts';

/** What one element of a counting set has seen: new connections, and the bytes of their first packets. */
export interface ElementCount {
  readonly packets: bigint;
  readonly bytes: bigint;
}

/** Someone else changed our table. What exactly, in words; the answer is always to repair it. */
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
  /** Whether the kernel keeps others from editing the table. False until there is one. */
  readonly isOwned: boolean;
  /** All or nothing: throws a TransactionError that names the part at fault, and nothing has changed. */
  apply(transaction: Transaction, signal?: AbortSignal): Promise<void>;
  /**
   * Lists the whole table; undefined when there is none. Its cost grows with the table, so it is for
   * the first look after a start, for diagnosis and for tests, never for a loop.
   */
  read(signal?: AbortSignal): Promise<PresentRuleset | undefined>;
  /** Counters of one counting set, by `elementId`. */
  counters(set: string, signal?: AbortSignal): Promise<ReadonlyMap<string, ElementCount>>;
  /**
   * Changes to our table by others, as they happen, until the signal fires. Where the kernel lets us
   * own the table there are none to see: foreign edits fail. Whatever happens after the callback shows.
   */
  watch(signal: AbortSignal, onListening?: () => void): AsyncIterable<ForeignChange>;
  /** Gives up sockets, threads and ownership. The table stays. */
  close(): Promise<void>;
}
