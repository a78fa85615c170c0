import { expect, it } from 'vitest';
import { parseReport } from '../../idling/activity-report.ts';
import { idleAfterAnnotation, idledAt } from '../../idling/annotations.ts';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { ConfigMap, Service } from '@causeway/kubernetes/objects/core-objects';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { ServiceProxy } from '../served-service.ts';
import { makeService } from '../testing/objects.ts';
import { ActivityWatch } from './activity-watch.ts';

const inner: ServiceProxy = {
  setService: () => {},
  removeService: () => {},
  setSlice: () => {},
  removeSlice: () => {},
  synced: () => {},
};
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
  const watch = new ActivityWatch({
    inner,
    driver: new MemoryDriver('causeway-proxy'),
    node: 'a',
    namespace: 'kube-system',
    connections: { connected: () => Promise.resolve(new Set()) },
    client: { apply } as unknown as KubeClient,
    owner: () => ({ metadata: { name: 'a', uid: 'uid-of-a' } }),
    everyMs: 30_000,
    clock,
    log: discardLog,
  });
  const { signal } = new AbortController();
  const quiet = async () => {
    await watch.report(signal);
    return parseReport(last)?.quietSeconds.get('shop/web');
  };
  watch.setService(annotated());
  expect(await quiet()).toBe(0);
  expect(last.metadata?.ownerReferences).toEqual([
    { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'uid-of-a' },
  ]);
  await clock.advance(5_000);
  watch.setService(annotated());
  expect(await quiet()).toBe(5);
  watch.setService(annotated({ [idledAt]: '2026-01-01T00:00:00Z' }));
  await clock.advance(600_000);
  expect(await quiet()).toBe(605);
  watch.setService(annotated());
  expect(await quiet()).toBe(0);
});
