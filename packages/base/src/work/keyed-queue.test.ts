import { expect, test } from 'vitest';
import { KeyedQueue } from './keyed-queue.ts';

const never = new AbortController().signal;

test('runs the work of one key in order and different keys concurrently, and continues after a failure', async () => {
  const keyedQueue = new KeyedQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<undefined>();
  const work = (name: string, until?: Promise<unknown>) => async () => {
    log.push(`${name} begins`);
    await until;
    log.push(`${name} ends`);
    if (name === 'a1') throw new Error('a1 fails');
  };
  const first = keyedQueue.run('a', work('a1', gate.promise), never);
  const second = keyedQueue.run('a', work('a2'), never);
  await keyedQueue.run('b', work('b1'), never);
  expect(log).toEqual(['a1 begins', 'b1 begins', 'b1 ends']);
  gate.resolve(undefined);
  await expect(first).rejects.toThrow('a1 fails');
  await second;
  expect(log.slice(3)).toEqual(['a1 ends', 'a2 begins', 'a2 ends']);
});

test('does not start waiting work after an abort', async () => {
  const keyedQueue = new KeyedQueue();
  const gate = Promise.withResolvers<undefined>();
  const stop = new AbortController();
  const first = keyedQueue.run('a', () => gate.promise, never);
  const second = keyedQueue.run('a', () => Promise.reject(new Error('began')), stop.signal);
  stop.abort();
  gate.resolve(undefined);
  await first;
  await expect(second).rejects.toMatchObject({ code: 'aborted' });
});
