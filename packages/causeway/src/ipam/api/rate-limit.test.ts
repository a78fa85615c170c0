import { describe, expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { RateLimiter } from './rate-limit.ts';

describe('a rate limit', () => {
  test('allows a burst, then a number of requests per second, for each caller separately', async () => {
    const clock = new SimulatedClock();
    const limiter = new RateLimiter({ perSecond: 2, burst: 3 }, clock);
    const allowed = (caller: string) => limiter.take(caller).allowed;
    expect([1, 2, 3, 4].map(() => allowed('a'))).toEqual([true, true, true, false]);
    expect(allowed('b')).toBe(true);
    await clock.advance(500);
    expect([1, 2].map(() => allowed('a'))).toEqual([true, false]);
    await clock.advance(60_000);
    expect([1, 2, 3, 4].map(() => allowed('a'))).toEqual([true, true, true, false]);
  });

  test('says how long the caller must wait', () => {
    const limiter = new RateLimiter({ perSecond: 0.1, burst: 1 }, new SimulatedClock());
    limiter.take('a');
    expect(limiter.take('a')).toEqual({ allowed: false, retryAfter: 10 });
  });

  test('drops the least recently seen caller, so that unknown callers cannot fill the memory', () => {
    const limiter = new RateLimiter({ perSecond: 0.001, burst: 1 }, new SimulatedClock());
    limiter.take('first');
    for (let index = 0; index < 10_000; index += 1) limiter.take(`stranger-${index}`);
    expect(limiter.take('first').allowed).toBe(true);
  });
});
