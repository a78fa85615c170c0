import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { RateLimit } from './rate-limit.ts';

describe('RateLimit', () => {
  it('allows a burst, then the rate, and no more than a burst after a long pause', async () => {
    const clock = new SimulatedClock();
    const limit = new RateLimit({ perSecond: 2, burst: 3 }, clock);
    const taken = () => {
      let count = 0;
      while (limit.tryTake()) count += 1;
      return count;
    };
    expect(taken()).toBe(3);
    await clock.advance(1_000);
    expect(taken()).toBe(2);
    await clock.advance(60_000);
    expect(limit.isFull).toBe(true);
    expect(taken()).toBe(3);
  });

  it('serves waiting callers in order, and returns unused tokens', async () => {
    const clock = new SimulatedClock();
    const limit = new RateLimit({ perSecond: 1, burst: 1 }, clock);
    const served: string[] = [];
    const { signal } = new AbortController();
    const quitter = new AbortController();
    const take = (name: string, by: AbortSignal) =>
      limit.take(by).then(
        () => served.push(name),
        () => served.push(`${name} gave up`),
      );
    const all = [take('first', signal), take('second', signal), take('quitter', quitter.signal)];
    await clock.advance(500);
    expect(served).toEqual(['first']);
    quitter.abort();
    await clock.advance(500);
    expect(served).toEqual(['first', 'quitter gave up', 'second']);
    all.push(take('third', signal));
    await clock.advance(1_000);
    await Promise.all(all);
    expect(served.at(-1)).toBe('third');
  });
});
