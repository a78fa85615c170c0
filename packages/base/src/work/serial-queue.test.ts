import { expect, test } from 'vitest';
import { SerialQueue } from './serial-queue.ts';

test('runs work one after another, and continues after a failure', async () => {
  const queue = new SerialQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<undefined>();
  const first = queue.run(async () => {
    log.push('first begins');
    await gate.promise;
    log.push('first fails');
    throw new Error('no');
  });
  const second = queue.run(() => {
    log.push('second');
    return 2;
  });
  expect(log).toEqual([]);
  gate.resolve(undefined);
  await expect(first).rejects.toThrow('no');
  expect(await second).toBe(2);
  expect(log).toEqual(['first begins', 'first fails', 'second']);
});

test('does not start waiting work after an abort', async () => {
  const queue = new SerialQueue();
  const gate = Promise.withResolvers<undefined>();
  const stop = new AbortController();
  const first = queue.run(() => gate.promise);
  const second = queue.run(() => Promise.reject(new Error('began')), stop.signal);
  stop.abort();
  gate.resolve(undefined);
  await first;
  await expect(second).rejects.toMatchObject({ code: 'aborted' });
});

test('rejects work while the queue is full', async () => {
  const queue = new SerialQueue(2);
  const gate = Promise.withResolvers<undefined>();
  const running = [queue.run(() => gate.promise), queue.run(() => undefined)];
  await expect(queue.run(() => undefined)).rejects.toMatchObject({ code: 'exhausted' });
  gate.resolve(undefined);
  await Promise.all(running);
  await queue.idle();
  expect(queue.isIdle).toBe(true);
  await queue.run(() => undefined);
});
