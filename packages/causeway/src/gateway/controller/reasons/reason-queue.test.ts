import { expect, test } from 'vitest';
import { settled } from '@causeway/base/time/simulated-clock';
import { ReasonQueue } from './reason-queue.ts';

test('counts equal reasons once, and keeps reasons about different objects apart', () => {
  const reasons = new ReasonQueue();
  for (const service of ['default/a', 'default/b', 'default/a']) {
    reasons.add({ kind: 'endpoints-changed', service });
  }
  reasons.add({ kind: 'nodes-changed' });
  reasons.add({ kind: 'nodes-changed' });
  expect(reasons.take()).toEqual([
    { kind: 'endpoints-changed', service: 'default/a' },
    { kind: 'endpoints-changed', service: 'default/b' },
    { kind: 'nodes-changed' },
  ]);
  expect(reasons.take()).toEqual([]);
});

test('keeps reasons that were added before the loop waits or while it works', async () => {
  const { signal } = new AbortController();
  const reasons = new ReasonQueue();
  reasons.add({ kind: 'gateway-answered' });
  await reasons.next(signal);
  expect(reasons.take()).toHaveLength(1);
  reasons.add({ kind: 'fences-changed' });
  await reasons.next(signal);
  expect(reasons.take()).toEqual([{ kind: 'fences-changed' }]);
});

test('waits until a reason arrives or the signal fires', async () => {
  const stop = new AbortController();
  const reasons = new ReasonQueue();
  reasons.add({ kind: 'nodes-changed' });
  reasons.take();
  const ended: string[] = [];
  void reasons.next(stop.signal).then(() => ended.push('next'));
  await settled();
  expect(ended).toEqual([]);
  reasons.add({ kind: 'nodes-changed' });
  await settled();
  expect(ended).toEqual(['next']);
  reasons.take();
  const waiting = reasons.next(stop.signal);
  stop.abort();
  await waiting;
});
