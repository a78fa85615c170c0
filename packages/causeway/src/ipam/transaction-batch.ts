import { largestTransaction, type Transaction } from './ledger.ts';

/**
 * As many transactions from the head of a queue as can be committed as one. Together they fit the size of a
 * transaction, and none touches a key that another writes, so their order does not matter. Most depend on the
 * same few keys (the site, its queue), which are compared once.
 */
export function batchHead(queue: readonly Transaction[]): {
  readonly count: number;
  readonly transaction: Transaction;
} {
  const read = new Map<string, number>();
  const written = new Set<string>();
  let count = 0;
  for (const { conditions, writes } of queue) {
    const fits = (current: number, more: number) => current + more <= largestTransaction;
    if (count > 0 && !(fits(read.size, conditions.length) && fits(written.size, writes.length)))
      break;
    const independent =
      writes.every(({ key }) => !written.has(key) && !read.has(key)) &&
      conditions.every(
        ({ key, revision }) => !written.has(key) && (read.get(key) ?? revision) === revision,
      );
    if (count > 0 && !independent) break;
    for (const { key, revision } of conditions) read.set(key, revision);
    for (const { key } of writes) written.add(key);
    count += 1;
  }
  const head = queue.slice(0, count);
  const [only] = head;
  if (count === 1 && only !== undefined) return { count, transaction: only };
  return {
    count,
    transaction: {
      conditions: [...read].map(([key, revision]) => ({ key, revision })),
      writes: head.flatMap(({ writes }) => writes),
    },
  };
}
