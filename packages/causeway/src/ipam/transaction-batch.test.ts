import { describe, expect, test } from 'vitest';
import { largestTransaction, type Transaction } from './ledger.ts';
import { batchHead } from './transaction-batch.ts';

/** `reads` as key@revision, `writes` as keys. */
const transaction = (reads: string, writes: string): Transaction => ({
  conditions: reads.split(' ').map((each) => {
    const [key = '', revision = '0'] = each.split('@');
    return { key, revision: Number(revision) };
  }),
  writes: writes.split(' ').map((key) => ({ key, value: 'x' })),
});

describe('batching the head of a queue', () => {
  test.each<[string, Transaction[], number]>([
    ['one alone', [transaction('a', 'a')], 1],
    ['independent ones', [transaction('site@3 a', 'a'), transaction('site@3 b', 'b')], 2],
    ['not two that write the same', [transaction('a', 'c'), transaction('b', 'c')], 1],
    ['not one that reads what another writes', [transaction('a', 'b'), transaction('b', 'c')], 1],
    ['not one that writes what another reads', [transaction('a', 'b'), transaction('c', 'a')], 1],
    ['not two that saw different revisions', [transaction('s@1', 'a'), transaction('s@2', 'b')], 1],
    [
      'in order: what cannot go holds up those behind it',
      [transaction('a', 'a'), transaction('a', 'a'), transaction('b', 'b')],
      1,
    ],
  ])('takes %s', (_name, queue, expected) => {
    expect(batchHead(queue).count).toBe(expected);
  });

  test('compares a key that several transactions depend on only once', () => {
    const { transaction: batch } = batchHead([
      transaction('s@3 a', 'a'),
      transaction('s@3 b', 'b'),
    ]);
    expect(batch).toEqual({
      conditions: [
        { key: 's', revision: 3 },
        { key: 'a', revision: 0 },
        { key: 'b', revision: 0 },
      ],
      writes: [
        { key: 'a', value: 'x' },
        { key: 'b', value: 'x' },
      ],
    });
  });

  test('respects the size limit of a transaction', () => {
    const queue = Array.from({ length: 100 }, (_, index) =>
      transaction(`s@3 a${index}`, `a${index} b${index} c${index}`),
    );
    const { count, transaction: batch } = batchHead(queue);
    expect(count).toBe(42);
    expect(batch.writes.length).toBeLessThanOrEqual(largestTransaction);
    expect(batch.conditions.length).toBeLessThanOrEqual(largestTransaction);
  });
});
