import { expect, test, vi } from 'vitest';
import { CausewayError } from '../../domain/error.ts';
import type { LoadBalancing } from '../../openstack/load-balancing/contract.ts';
import type { LoadBalancerWaiter } from '../../openstack/load-balancing/waiter.ts';
import { silentLog } from '../../runtime/log.ts';
import { Inventory } from './inventory.ts';
import { Settling } from './settling.ts';

test('PENDING for too long is known until it is over, and nobody is looked at twice at once', async () => {
  const answers = [
    new CausewayError('timeout', 'it takes too long'),
    new CausewayError('not-found', 'gone'),
  ];
  const settled = vi.fn(() => Promise.reject(answers.shift() ?? new Error('asked once too often')));
  const settling = new Settling({
    waiter: { settled } as unknown as LoadBalancerWaiter,
    inventory: new Inventory({} as LoadBalancing),
    log: silentLog,
    limitMs: 1_000,
  });
  const stop = new AbortController();
  const seen: string[] = [];
  const ended = settling.run((key) => seen.push(key), stop.signal);
  settling.watch('b1', 'shop/web');
  settling.watch('b1', 'shop/web');
  await vi.waitFor(() => expect(seen).toEqual(['shop/web']));
  expect(settling.isOverdue('b1')).toBe(true);
  settling.watch('b1', 'shop/web');
  await vi.waitFor(() => expect(seen).toEqual(['shop/web', 'shop/web']));
  expect(settling.isOverdue('b1')).toBe(false);
  expect(settled).toHaveBeenCalledTimes(2);
  stop.abort();
  await ended;
});
