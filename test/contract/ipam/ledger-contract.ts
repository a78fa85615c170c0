import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  Batch,
  Condition,
  Ledger,
  Write,
} from '../../../packages/causeway/src/ipam/ledger.ts';

/** A ledger for a test, empty at first, with a function that connects to the same one again. */
export interface LedgerUnderTest {
  readonly ledger: Ledger;
  close(): Promise<void>;
}

const never = new AbortController().signal;
const put = (key: string, value: string): Write => ({ key, value });
const remove = (key: string): Write => ({ key, value: undefined });

/** What every ledger must do, with any store. */
export function describeLedger(name: string, open: () => Promise<LedgerUnderTest>): void {
  describe(`the ${name} ledger`, () => {
    let under: LedgerUnderTest;
    let ledger: Ledger;
    beforeEach(async () => {
      under = await open();
      ledger = under.ledger;
    });
    afterEach(() => under.close());

    const commit = (writes: Write[], conditions: Condition[] = []) =>
      ledger.commit({ conditions, writes }, never);
    const loaded = async (prefix: string) =>
      Object.fromEntries((await ledger.load(prefix, never)).entries.map((e) => [e.key, e.value]));

    test('applies all writes of a transaction, or none', async () => {
      const first = await commit([put('state/a', '1'), put('state/b', '2')]);
      expect(first.applied).toBe(true);
      const refused = await commit(
        [put('state/a', '9'), remove('state/b'), put('state/c', '9')],
        [
          { key: 'state/a', revision: first.revision },
          { key: 'state/b', revision: first.revision + 1 },
        ],
      );
      expect(refused.applied).toBe(false);
      expect(refused.revision).toBeGreaterThanOrEqual(first.revision);
      expect(await loaded('state/')).toEqual({ 'state/a': '1', 'state/b': '2' });
    });

    test('compares with a key that does not exist as revision 0', async () => {
      const absent = [{ key: 'state/a', revision: 0 }];
      expect((await commit([put('state/a', '1')], absent)).applied).toBe(true);
      expect((await commit([put('state/a', '2')], absent)).applied).toBe(false);
      await commit([remove('state/a')]);
      expect((await commit([put('state/a', '3')], absent)).applied).toBe(true);
    });

    test('gives every transaction a later revision and marks its writes with it', async () => {
      const one = await commit([put('state/a', '1'), put('state/b', '1')]);
      const two = await commit([put('state/b', '2')]);
      expect(two.revision).toBeGreaterThan(one.revision);
      const { entries, revision } = await ledger.load('state/', never);
      expect(revision).toBeGreaterThanOrEqual(two.revision);
      expect(entries.map((entry) => [entry.key, entry.revision])).toEqual([
        ['state/a', one.revision],
        ['state/b', two.revision],
      ]);
    });

    test('a barrier is never older than acknowledged writes', async () => {
      const { revision } = await commit([put('state/a', '1')]);
      expect(await ledger.barrier(never)).toBeGreaterThanOrEqual(revision);
    });

    test('only one of many concurrent writers of a key succeeds', async () => {
      const attempts = Array.from({ length: 40 }, (_, index) =>
        commit([put('state/contended', String(index))], [{ key: 'state/contended', revision: 0 }]),
      );
      const results = await Promise.all(attempts);
      const winners = results.flatMap((result, index) => (result.applied ? [index] : []));
      expect(winners).toHaveLength(1);
      expect(await loaded('state/')).toEqual({ 'state/contended': String(winners[0]) });
    });

    test('a watch reports everything after a revision, in order, each transaction as a whole', async () => {
      const start = await commit([put('state/before', '0')]);
      const expected = [];
      for (let index = 0; index < 5; index += 1) {
        const { revision } = await commit([put('state/a', `${index}`), put('other/a', 'x')]);
        expected.push({ revision, changes: [{ key: 'state/a', value: `${index}`, revision }] });
      }
      const deletion = await commit([remove('state/a'), put('state/b', 'y')]);
      const seen = await collect(ledger, start.revision, deletion.revision);
      expect(seen.filter(({ changes }) => changes.length > 0)).toEqual([
        ...expected,
        {
          revision: deletion.revision,
          changes: [
            { key: 'state/a', value: undefined, revision: deletion.revision },
            { key: 'state/b', value: 'y', revision: deletion.revision },
          ],
        },
      ]);
    });

    test('a watch with progress reports revisions without changes under its prefix', async () => {
      const start = await commit([put('state/a', '1')]);
      const { revision } = await commit([put('other/a', '1')]);
      const seen = await collect(ledger, start.revision, revision);
      expect(seen.flatMap(({ changes }) => changes)).toEqual([]);
    });

    test('a watch ends with its signal', async () => {
      const { revision } = await commit([put('state/a', '1')]);
      const stop = new AbortController();
      const following = collect(ledger, revision, revision + 1, stop.signal);
      stop.abort();
      await expect(following).rejects.toMatchObject({ code: 'aborted' });
    });

    test('scans a range of keys from either end', async () => {
      await commit(['1', '2', '3', '4'].map((each) => put(`audit/${each}`, each)));
      const range = { from: 'audit/2', to: 'audit/4' };
      const forward = await ledger.scan({ ...range, limit: 9, newestFirst: false }, never);
      expect(forward.map(({ value }) => value)).toEqual(['2', '3']);
      const newest = await ledger.scan({ ...range, limit: 1, newestFirst: true }, never);
      expect(newest.map(({ value }) => value)).toEqual(['3']);
    });

    test('rejects a transaction that is too large or writes a key twice', async () => {
      const many = Array.from({ length: 129 }, (_, index) => put(`state/${index}`, 'x'));
      await expect(commit(many)).rejects.toMatchObject({ code: 'invalid' });
      await expect(commit([put('state/a', '1'), remove('state/a')])).rejects.toMatchObject({
        code: 'invalid',
      });
    });

    test('keeps values of any text', async () => {
      const value = JSON.stringify({ text: 'ü\u0000"\\\n€ 😀', long: 'x'.repeat(100_000) });
      await commit([put('state/a', value)]);
      expect(await loaded('state/')).toEqual({ 'state/a': value });
    });
  });
}

/** Every batch after one revision until another is reached, with progress. */
async function collect(
  ledger: Ledger,
  after: number,
  until: number,
  signal = never,
): Promise<Batch[]> {
  const batches: Batch[] = [];
  const watch = ledger.watch('state/', after, signal)[Symbol.asyncIterator]();
  for (let reached = after; reached < until; ) {
    const asking = setInterval(() => ledger.requestProgress(), 10);
    const result = await watch.next().finally(() => clearInterval(asking));
    if (result.done === true) break;
    batches.push(result.value);
    reached = result.value.revision;
  }
  await watch.return?.();
  return batches;
}
