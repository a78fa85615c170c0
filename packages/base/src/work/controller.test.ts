import { expect, test } from 'vitest';
import { CausewayError } from '../error/causeway-error.ts';
import { sleep } from '../time/clock.ts';
import { done, invalid, retryAfter, runController, wait, type Reconcile } from './controller.ts';
import { discardLog } from '../observability/log.ts';
import { noMetrics } from '../observability/metrics.ts';
import { settled, SimulatedClock } from '../time/simulated-clock.ts';
import { WorkQueue } from './work-queue.ts';

function start(reconcile: (clock: SimulatedClock) => Reconcile<string>, workers = 2) {
  const clock = new SimulatedClock();
  const backoff = { baseMs: 10, maxMs: 1_000, jitter: 0 };
  const queue = new WorkQueue<string>({ clock, backoff });
  const stop = new AbortController();
  const ended = runController(
    {
      name: 'test',
      queue,
      reconcile: reconcile(clock),
      workers,
      deadlineMs: 5_000,
      clock,
      log: discardLog,
      metrics: noMetrics,
    },
    stop.signal,
  );
  return { clock, queue, stop, ended };
}

test.each([
  ['done', () => Promise.resolve(done), [0]],
  ['wait', () => Promise.resolve(wait('for a node')), [0]],
  ['invalid', () => Promise.resolve(invalid('bad port')), [0]],
  ['retryAfter', () => Promise.resolve(retryAfter(40, 'pending')), [0, 40, 80]],
  ['a failure', () => Promise.reject(new Error('no')), [0, 10, 30, 70]],
  [
    'an inner abort while the controller runs',
    () => Promise.reject(new CausewayError('aborted', 'the connection was closed')),
    [0, 10, 30, 70],
  ],
])('reconciles the key again at the right times after %s', async (_name, answer, expected) => {
  const times: number[] = [];
  const { clock, queue, stop, ended } = start((clock) => () => {
    times.push(clock.monotonic());
    return answer();
  });
  queue.add('a');
  await clock.advance(100);
  expect(times).toEqual(expected);
  stop.abort();
  await ended;
  expect(clock.pendingTimers).toBe(0);
});

test('reconciles one key never concurrently, and several keys concurrently', async () => {
  let most = 0;
  const under = new Map<string, number>();
  const { clock, queue, stop, ended } = start(
    (clock) => async (key) => {
      under.set(key, (under.get(key) ?? 0) + 1);
      expect(under.get(key)).toBe(1);
      most = Math.max(
        most,
        [...under.values()].reduce((sum, count) => sum + count, 0),
      );
      await sleep(clock, 10);
      under.set(key, 0);
      return done;
    },
    4,
  );
  for (let round = 0; round < 10; round += 1) {
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await clock.advance(7);
  }
  await clock.advance(100);
  expect(most).toBe(3);
  stop.abort();
  await ended;
});

test('aborts and retries a reconciliation after its deadline', async () => {
  let tries = 0;
  const { clock, queue, stop, ended } = start((clock) => async (_key, context) => {
    tries += 1;
    if (tries === 1) await sleep(clock, 60_000, context.signal);
    return done;
  });
  queue.add('a');
  await clock.advance(5_000);
  await clock.advance(10);
  expect(tries).toBe(2);
  stop.abort();
  await ended;
});

test('aborts running reconciliations on stop, waits for them, and starts no others', async () => {
  const seen: string[] = [];
  const { queue, stop, ended } = start(
    (clock) => async (key, context) => {
      seen.push(key);
      await sleep(clock, 1_000, context.signal).catch(() => seen.push('aborted'));
      return done;
    },
    1,
  );
  queue.add('a');
  queue.add('b');
  await settled();
  stop.abort();
  await ended;
  expect(seen).toEqual(['a', 'aborted']);
});
