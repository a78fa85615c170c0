import { expect, it } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Memo } from './memo.ts';

it('keeps answers for a while, and does not keep failures', async () => {
  const clock = new SimulatedClock();
  const memo = new Memo(clock, 1_000);
  let asked = 0;
  const ask = () => Promise.resolve((asked += 1));
  await expect(memo.get('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await memo.get('a', ask)).toBe(1);
  await clock.advance(999);
  expect(await memo.get('a', ask)).toBe(1);
  expect(await memo.get('b', ask)).toBe(2);
  await clock.advance(1);
  expect(await memo.get('a', ask)).toBe(3);
});
