import { expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { largeService } from '@causeway/kubernetes/objects/large-service.testing';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { ProxyPipeline } from './proxy-pipeline.ts';
import { ProxyProgress } from './proxy-progress.ts';
import { ProxyStore } from './proxy-store.ts';
import { tracedNode } from './testing/traced-node.ts';
import { makeService, makeSlice } from './testing/objects.ts';
import { StoreWriter } from './testing/store-writer.ts';
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

test('a Service above the budget is not served, with a reason', () => {
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

test('a node reports a Service above the budget once, serves the others, and serves it again when it fits', async () => {
  const reported: string[] = [];
  const driver = new MemoryDriver(layout.table);
  const stop = new AbortController();
  const store = new ProxyStore({ node: tracedNode, clock: systemClock, log: discardLog });
  const objects = new StoreWriter(store);
  const pipeline = new ProxyPipeline({
    store,
    driver,
    layout,
    progress: new ProxyProgress(systemClock, noMetrics),
    pace: { minIntervalMs: 0, maxIntervalMs: 60_000 },
    connections: {
      deleteConnections: () => Promise.resolve(0),
      deleteStaleEntries: () => Promise.resolve(0),
    },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    reportExcess: (service, { reason }) => reported.push(`${keyOf(service)} ${reason}`),
  });
  const running = pipeline.run(stop.signal);
  const committed = () =>
    new Promise<void>((resolve) => {
      const end = pipeline.onCommit(() => {
        end();
        resolve();
      });
    });
  const addresses = async () =>
    [...((await driver.read(stop.signal))?.sets.get('counts4')?.elements.keys() ?? [])].length;
  objects.setService(makeService());
  objects.setService(largeService(1000, 2000));
  objects.synced();
  await committed();
  expect(reported).toEqual(['shop/large OverBudget']);
  expect(await addresses()).toBe(1);
  objects.setSlice(makeSlice({ service: 'large' }));
  await committed();
  expect(reported).toHaveLength(1);
  objects.setService(largeService(10, 2000));
  await committed();
  expect(await addresses()).toBe(11);
  stop.abort();
  await running;
});
