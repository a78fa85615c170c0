import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settled, SimulatedClock } from '../time/simulated-clock.ts';
import { WorkQueue } from './work-queue.ts';

const makeQueue = () => {
  const clock = new SimulatedClock();
  const backoff = { baseMs: 10, maxMs: 1_000, jitter: 0 };
  return { clock, queue: new WorkQueue<string>({ clock, backoff }) };
};

describe('WorkQueue', () => {
  test('hands out a key once for several adds', () => {
    const { queue } = makeQueue();
    queue.add('a');
    queue.add('b');
    queue.add('a');
    expect([queue.tryTake(), queue.tryTake(), queue.tryTake()]).toEqual(['a', 'b', undefined]);
  });

  test('hands out a key added during its processing after done, behind the others', () => {
    const { queue } = makeQueue();
    queue.add('a');
    expect(queue.tryTake()).toBe('a');
    queue.add('a');
    queue.add('b');
    expect(queue.tryTake()).toBe('b');
    expect(queue.tryTake()).toBeUndefined();
    queue.done('a');
    expect(queue.tryTake()).toBe('a');
  });

  test('hands out a key to a waiting taker as soon as it is added', async () => {
    const { queue } = makeQueue();
    const taken = queue.take();
    queue.add('a');
    expect(await taken).toBe('a');
  });

  test('keeps the earliest time of a delayed key', async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter('a', 100);
    queue.addAfter('a', 50);
    queue.addAfter('a', 200);
    await clock.advance(49);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.tryTake()).toBe('a');
    queue.done('a');
    await clock.advance(1_000);
    expect(queue.depth).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  test('drops the delayed add of a key when it is handed out, but not later ones', async () => {
    const { clock, queue } = makeQueue();
    queue.addAfter('a', 100);
    queue.add('a');
    expect(queue.tryTake()).toBe('a');
    queue.done('a');
    await clock.advance(100);
    expect(queue.depth).toBe(0);
    queue.add('a');
    expect(queue.tryTake()).toBe('a');
    queue.addAfter('a', 100);
    queue.done('a');
    await clock.advance(100);
    expect(queue.tryTake()).toBe('a');
  });

  test('backs off for each key separately until it is reset', () => {
    const { queue } = makeQueue();
    expect([1, 2, 3].map(() => queue.addAfterFailure('a'))).toEqual([10, 20, 40]);
    expect(queue.addAfterFailure('b')).toBe(10);
    queue.forget('a');
    expect(queue.addAfterFailure('a')).toBe(10);
  });

  test('wakes the takers on shutdown, hands out queued keys, and accepts no more', async () => {
    const { clock, queue } = makeQueue();
    const waiting = queue.take();
    queue.addAfter('late', 5);
    queue.shutDown();
    expect(await waiting).toBeUndefined();
    queue.add('new');
    expect(await queue.take()).toBeUndefined();
    expect(clock.pendingTimers).toBe(0);
  });

  test('resolves whenDrained when no key is queued or processed', async () => {
    const { queue } = makeQueue();
    queue.add('a');
    queue.tryTake();
    let isDrained = false;
    const drained = queue.whenDrained().then(() => (isDrained = true));
    await settled();
    expect(isDrained).toBe(false);
    queue.done('a');
    await drained;
    expect(isDrained).toBe(true);
  });
});

/** A simple model of the queue's guarantees. */
class Model {
  readonly waiting: string[] = [];
  readonly working = new Set<string>();
  readonly again = new Set<string>();

  add(key: string): void {
    if (this.working.has(key)) this.again.add(key);
    else if (!this.waiting.includes(key)) this.waiting.push(key);
  }

  take(): string | undefined {
    const key = this.waiting.shift();
    if (key !== undefined) this.working.add(key);
    return key;
  }

  done(key: string): void {
    this.working.delete(key);
    if (this.again.delete(key)) this.waiting.push(key);
  }
}

test('behaves like the model for any sequence of adds, takes and dones', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c', 'd') }),
    fc.record({ kind: fc.constant('take' as const) }),
    fc.record({ kind: fc.constant('done' as const), pick: fc.nat() }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const { queue } = makeQueue();
      const model = new Model();
      for (const action of steps) {
        if (action.kind === 'add') {
          queue.add(action.key);
          model.add(action.key);
        } else if (action.kind === 'take') {
          const expected = model.take();
          expect(queue.tryTake()).toBe(expected);
        } else {
          const key = [...model.working][action.pick % Math.max(model.working.size, 1)];
          if (key === undefined) continue;
          queue.done(key);
          model.done(key);
        }
        expect(queue.depth).toBe(model.waiting.length);
      }
    }),
  );
});
