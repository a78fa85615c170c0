import { expect, test } from 'vitest';
import { SerialQueue } from './serial-queue.ts';

test('work runs one after another, and a failure does not hold up the next', async () => {
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

test('an abort keeps waiting work from starting', async () => {
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

test('a full queue refuses work until some has ended', async () => {
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
