import { expect, test } from 'vitest';
import { nextTurn } from '../time/next-turn.ts';
import { runTogether } from './run-together.ts';

test('handles every item once, with limited concurrency', async () => {
  let running = 0;
  let most = 0;
  const seen: number[] = [];
  await runTogether([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1;
    most = Math.max(most, running);
    await nextTurn();
    seen.push(item);
    running -= 1;
  });
  expect(most).toBe(3);
  expect(seen.sort((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

test('starts no more items after a failure and waits for the running ones', async () => {
  const ended: number[] = [];
  const all = runTogether([1, 2, 3, 4], 2, async (item) => {
    await nextTurn();
    if (item === 1) throw new Error('no');
    await nextTurn();
    ended.push(item);
  });
  await expect(all).rejects.toThrow('no');
  expect(ended).toEqual([2]);
});
