import { afterEach, expect, it } from 'vitest';
import { parsePort } from '@causeway/base/address/port';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { holdAnnotation, idledAt } from '../idling/annotations.ts';
import { gatewayLayerAnnotation } from '../services/backend-layer.ts';
import { ProxyPipeline } from './proxy-pipeline.ts';
import { ProxyProgress } from './proxy-progress.ts';
import { ProxyStore } from './proxy-store.ts';
import { makeService, makeSlice } from './testing/objects.ts';
import { StoreWriter } from './testing/store-writer.ts';
import { tracedLayout, tracedNode } from './testing/traced-node.ts';

const metadata = { namespace: 'shop', name: 'web', uid: 'one' };
const awake = makeService({ metadata });
const idle = (annotations = {}): Service =>
  makeService({ metadata: { ...metadata, annotations: { [idledAt]: 'now', ...annotations } } });
const accepted = idle({ [holdAnnotation]: 'accept' });
const ready = makeSlice({ addresses: ['10.1.0.1'] });

let end = () => Promise.resolve();
afterEach(() => end());

/** The pipeline on an in-memory kernel; each transaction appends where the Service's connections go. */
async function start(canListen = true) {
  const clock = new SimulatedClock();
  const store = new ProxyStore({ node: tracedNode, clock, log: discardLog });
  const objects = new StoreWriter(store);
  const listeners = new Map([['TCP/80', parsePort(15_080)]]);
  const pipeline = new ProxyPipeline({
    store,
    driver: new MemoryDriver(tracedLayout.table),
    layout: tracedLayout,
    connections: {
      deleteConnections: () => Promise.resolve(0),
      deleteStaleEntries: () => Promise.resolve(0),
    },
    pace: { minIntervalMs: 0, maxIntervalMs: 3_600_000 },
    progress: new ProxyProgress(clock, noMetrics),
    idling: {
      graceMs: 60_000,
      logGroup: 9,
      listen: () => Promise.resolve(canListen ? listeners : undefined),
    },
    clock,
    log: discardLog,
    metrics: noMetrics,
  });
  const ways: string[] = [];
  pipeline.onCommit((served) => {
    for (const { diversion } of served) ways.push(diversion?.kind ?? 'serve');
  });
  const stop = new AbortController();
  const running = pipeline.run(stop.signal);
  end = async () => {
    stop.abort();
    await running;
    // Unanswered connection attempts to removed endpoints are deleted half a second later.
    await clock.advance(500);
    expect(clock.pendingTimers).toBe(0);
  };
  objects.synced();
  const apply = async (write: () => void) => {
    write();
    await clock.advance(0);
  };
  await clock.advance(0);
  return { clock, objects, pipeline, ways, apply };
}

it('writes each change together with its diversion', async () => {
  const { objects, ways, apply } = await start();
  await apply(() => objects.setService(idle()));
  await apply(() => objects.setSlice(ready));
  await apply(() => objects.removeSlice('shop/web-1'));
  await apply(() => objects.removeService('shop/web'));
  expect(ways).toEqual(['park', 'serve', 'park', 'serve']);
});

it('serves a Service at the end of the grace period without another change', async () => {
  const { clock, objects, ways, apply } = await start();
  await apply(() => objects.setService(idle()));
  await apply(() => objects.setService(awake));
  expect(ways).toEqual(['park', 'park']);
  await clock.advance(59_999);
  expect(ways).toHaveLength(2);
  await clock.advance(1);
  expect(ways).toEqual(['park', 'park', 'serve']);
});

it('holds a Service that lost its idle annotation before a transaction saw the annotation', async () => {
  const { objects, ways, apply } = await start();
  await apply(() => {
    objects.setService(idle());
    objects.setService(awake);
  });
  expect(ways).toEqual(['park']);
});

it('ends a replay a short time after its transaction without another change', async () => {
  const { clock, objects, ways, apply } = await start();
  await apply(() => objects.setService(idle({ [gatewayLayerAnnotation]: 'Pod' })));
  await apply(() => objects.setSlice(ready));
  expect(ways).toEqual(['park', 'replay']);
  await clock.advance(9_999);
  expect(ways).toHaveLength(2);
  await clock.advance(1);
  expect(ways).toEqual(['park', 'replay', 'serve']);
});

it('opens the listeners of an accepted Service before the transaction', async () => {
  const { objects, ways, apply } = await start();
  await apply(() => objects.setService(accepted));
  expect(ways).toEqual(['accept']);
});

it('parks an accepted Service whose listeners cannot be opened', async () => {
  const { objects, ways, apply } = await start(false);
  await apply(() => objects.setService(accepted));
  expect(ways).toEqual(['park']);
});

it('parks accepted Services before the proxy ends, and accepts none any more', async () => {
  const { clock, objects, pipeline, ways, apply } = await start();
  await apply(() => objects.setService(accepted));
  let isParked = false;
  const parked = pipeline.parkAccepted().then(() => {
    isParked = true;
  });
  await clock.advance(0);
  expect(isParked).toBe(true);
  await parked;
  await apply(() => objects.setService(accepted));
  expect(ways).toEqual(['accept', 'park', 'park']);
});
