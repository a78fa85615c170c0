import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { largeService } from '@causeway/kubernetes/objects/large-service.testing';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { BaseProxy } from './base-proxy.ts';
import { tracedNode } from './testing/traced-node.ts';
import { makeService, makeSlice } from './testing/objects.ts';
import { translateService } from './translate-service.ts';

const layout = {
  table: 'causeway-proxy',
  hashSeed: 7,
  localSources: [],
  hairpin: true,
  resumeConnections: false,
  insiders: { networks: [], interfaces: ['pods'] },
};
const translate = (service: Service) =>
  translateService({
    service: { ...service, status: { loadBalancer: { ingress: [{ ip: '192.0.2.9' }] } } },
    slices: [makeSlice()],
    diversion: undefined,
    node: tracedNode,
  });

test('a Service that is larger than the budget is not served, and says why', () => {
  const { targets, healthCheck, excess } = translate(largeService(1000, 2000));
  expect(targets).toEqual([]);
  expect(healthCheck).toBeUndefined();
  expect(excess).toMatchObject({ reason: 'OverBudget' });
  expect(excess?.message).toContain('2000000 pairs of a port and a source range (1000 × 2000)');
});

test('all ports of a Service share one list of source ranges', () => {
  const { targets, excess } = translate(largeService(1000, 100));
  expect(excess).toBeUndefined();
  const balanced = targets.filter(({ origin }) => origin === 'load-balancer');
  expect(balanced).toHaveLength(1000);
  expect(new Set(balanced.map(({ virtual }) => virtual.sourceRanges)).size).toBe(1);
});

test('a node tells of a Service beyond the budget once, serves the others, and takes it back', async () => {
  const events: string[] = [];
  const driver = new MemoryDriver(layout.table);
  const stop = new AbortController();
  const proxy = new BaseProxy({
    driver,
    layout,
    node: tracedNode,
    pace: { minIntervalMs: 0, maxIntervalMs: 60_000 },
    connections: { forget: () => Promise.resolve(0), deleteStaleEntries: () => Promise.resolve(0) },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    recordExcess: (service, { reason }) => events.push(`${keyOf(service)} ${reason}`),
  });
  const running = proxy.run(stop.signal);
  const committed = () =>
    new Promise<void>((resolve) => {
      const end = proxy.onCommit(() => {
        end();
        resolve();
      });
    });
  const addresses = async () =>
    [...((await driver.read(stop.signal))?.sets.get('counts4')?.elements.keys() ?? [])].length;
  proxy.setService(makeService());
  proxy.setService(largeService(1000, 2000));
  proxy.synced();
  await committed();
  expect(events).toEqual(['shop/large OverBudget']);
  expect(await addresses()).toBe(1);
  proxy.setSlice(makeSlice({ service: 'large' }));
  await committed();
  expect(events).toHaveLength(1);
  proxy.setService(largeService(10, 2000));
  await committed();
  expect(await addresses()).toBe(11);
  stop.abort();
  await running;
});
