import { expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { Inventory } from './inventory.ts';
import { PendingChanges } from './pending-changes.ts';
import { ReconcileReasons } from './reconcile-reasons.ts';

/** A cloud of load balancers with only a status, which counts the requests. */
function cloudOf(statuses: Map<string, string>) {
  const asked = { lists: 0, reads: 0 };
  const show = (id: string) =>
    ({ id, name: id, provisioningStatus: statuses.get(id) }) as unknown as LoadBalancer;
  const balancing = {
    capabilities: () => ({ tags: true }),
    async *loadBalancers() {
      asked.lists += 1;
      for (const id of statuses.keys()) yield await Promise.resolve(show(id));
    },
    loadBalancer(id: string) {
      asked.reads += 1;
      if (statuses.has(id)) return Promise.resolve(show(id));
      return Promise.reject(new CausewayError('not-found', 'gone'));
    },
  } as unknown as LoadBalancing;
  return { balancing, asked };
}

function pendingChangesOf(statuses: Map<string, string>) {
  const clock = new SimulatedClock();
  const { balancing, asked } = cloudOf(statuses);
  const inventory = new Inventory(balancing);
  const reasons = new ReconcileReasons();
  const pendingChanges = new PendingChanges({
    balancing,
    inventory,
    reasons,
    clock,
    log: discardLog,
    tag: 'tag',
    limitMs: 60_000,
  });
  const stop = new AbortController();
  const seen: string[] = [];
  reasons.connect((key) => seen.push(key));
  const ended = pendingChanges.run(stop.signal);
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { clock, pendingChanges, inventory, seen, asked, end };
}

test('waits for many load balancers with one list at a time, and reports each once', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `b${index}`);
  const statuses = new Map(ids.map((id) => [id, 'PENDING_CREATE']));
  const { clock, pendingChanges, inventory, seen, asked, end } = pendingChangesOf(statuses);
  for (const id of ids) pendingChanges.watch(id, `shop/${id}`);
  await clock.advance(20_000);
  expect(seen).toEqual([]);
  for (const id of ids) statuses.set(id, 'ACTIVE');
  await clock.advance(10_000);
  expect(new Set(seen)).toEqual(new Set(ids.map((id) => `shop/${id}`)));
  expect(seen).toHaveLength(20);
  expect(asked.reads).toBe(0);
  expect(asked.lists).toBeLessThan(40);
  expect(inventory.get('b7')?.balancer.provisioningStatus).toBe('ACTIVE');
  await end();
});

test('reports PENDING for too long once, and drops it at its end', async () => {
  const statuses = new Map([['b1', 'PENDING_DELETE']]);
  const { clock, pendingChanges, inventory, seen, end } = pendingChangesOf(statuses);
  pendingChanges.watch('b1', 'shop/web');
  pendingChanges.watch('b1', 'shop/web');
  await clock.advance(120_000);
  expect(seen).toEqual(['shop/web']);
  expect(pendingChanges.overdueStatus('b1')).toBe('PENDING_DELETE');
  statuses.delete('b1');
  await clock.advance(10_000);
  expect(seen).toEqual(['shop/web', 'shop/web']);
  expect(pendingChanges.overdueStatus('b1')).toBeUndefined();
  expect(inventory.get('b1')).toBeUndefined();
  await end();
});

test('enqueues all Services that share a load balancer', async () => {
  const statuses = new Map([['b1', 'PENDING_UPDATE']]);
  const { clock, pendingChanges, seen, end } = pendingChangesOf(statuses);
  pendingChanges.watch('b1', 'shop/web');
  pendingChanges.watch('b1', 'shop/mail');
  statuses.set('b1', 'ACTIVE');
  await clock.advance(10_000);
  expect(seen).toEqual(['shop/web', 'shop/mail']);
  await end();
});
