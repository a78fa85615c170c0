import { expect, it } from 'vitest';
import { parseReport } from '../../idling/activity-report.ts';
import { idleAfterAnnotation, idledAt } from '../../idling/annotations.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ConfigMap, Service } from '@causeway/kubernetes/objects/core-objects';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { ProxyStore } from '../proxy-store.ts';
import { makeService } from '../testing/objects.ts';
import { StoreWriter } from '../testing/store-writer.ts';
import { tracedNode } from '../testing/traced-node.ts';
import { ActivityWatch } from './activity-watch.ts';

const annotated = (marks: Readonly<Record<string, string>> = {}): Service =>
  makeService({
    metadata: {
      namespace: 'shop',
      name: 'web',
      annotations: { [idleAfterAnnotation]: '1m', ...marks },
    },
  });

it('restarts the idle time when a Service wakes, and makes the Node the owner of the report', async () => {
  const clock = new SimulatedClock();
  let last: ConfigMap = {};
  const apply = (_: unknown, object: ConfigMap) => {
    last = object;
    return Promise.resolve(object);
  };
  const store = new ProxyStore({ node: tracedNode, clock, log: discardLog });
  const objects = new StoreWriter(store);
  store.nodes.put({ metadata: { name: 'a', uid: 'uid-of-a' } });
  const watch = new ActivityWatch({
    store,
    driver: new MemoryDriver('causeway-proxy'),
    node: 'a',
    namespace: 'kube-system',
    connections: { connected: () => Promise.resolve(new Set()) },
    client: { apply } as unknown as KubeClient,
    everyMs: 30_000,
    clock,
    log: discardLog,
  });
  const { signal } = new AbortController();
  const quiet = async () => {
    await watch.report(signal);
    return parseReport(last)?.quietSeconds.get('shop/web');
  };
  objects.setService(annotated());
  expect(await quiet()).toBe(0);
  expect(last.metadata?.ownerReferences).toEqual([
    { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'uid-of-a' },
  ]);
  await clock.advance(5_000);
  objects.setService(annotated());
  expect(await quiet()).toBe(5);
  objects.setService(annotated({ [idledAt]: '2026-01-01T00:00:00Z' }));
  await clock.advance(600_000);
  expect(await quiet()).toBe(605);
  objects.setService(annotated());
  expect(await quiet()).toBe(0);
});
