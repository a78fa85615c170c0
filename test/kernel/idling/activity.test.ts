import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseReport } from '../../../packages/causeway/src/idling/activity-report.ts';
import { idleAfterAnnotation } from '../../../packages/causeway/src/idling/annotations.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import type { ConfigMap, Service } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { ActivityWatch } from '../../../packages/causeway/src/node-proxy/activity/activity-watch.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { Node, openPipeline, webService, webSlices } from './node.ts';

describe.runIf(canUseNamespaces())('the activity of a Service', () => {
  let node: Node;
  beforeAll(async () => {
    node = await Node.create();
    await node.startPod();
    // Entries of ended connections expire soon, or the test would take minutes.
    for (const state of ['time_wait', 'close', 'last_ack']) {
      await node.host.setting(`net.netfilter.nf_conntrack_tcp_timeout_${state}`, 1);
    }
  });
  afterAll(() => node?.remove());

  it('is seen in new and in lasting connections, and quiet time is counted after them', async () => {
    const { pipeline, store, objects, driver, connections, close } = await openPipeline(
      node.host.path,
    );
    let last: ConfigMap = {};
    const apply = (_: unknown, object: ConfigMap) => {
      last = object;
      return Promise.resolve(object);
    };
    const watch = new ActivityWatch({
      store,
      driver,
      connections,
      node: 'node1',
      namespace: 'kube-system',
      client: { apply } as unknown as KubeClient,
      everyMs: 1_000,
      clock: systemClock,
      log: discardLog,
    });
    pipeline.onCommit((served) => watch.onCommit(served));
    const stop = new AbortController();
    const running = pipeline.run(stop.signal);
    const service = webService(false);
    const annotations = { [idleAfterAnnotation]: '1m' };
    const annotated: Service = { ...service, metadata: { ...service.metadata, annotations } };
    const committed = new Promise<void>((resolve) => pipeline.onCommit(() => resolve()));
    objects.setService(annotated);
    for (const slice of webSlices(true)) objects.setSlice(slice);
    objects.synced();
    await committed;
    const quiet = async () => {
      await watch.report(stop.signal);
      return parseReport(last)?.quietSeconds.get('shop/web') ?? -1;
    };
    expect(await quiet()).toBe(0);
    await waitFor('a quiet time', async () => (await quiet()) >= 2);
    const { result } = await node.clients(node.clientPod, { count: 1 });
    await result;
    expect(await quiet()).toBe(0);
    await waitFor('a quiet time again', async () => (await quiet()) >= 2);
    const staying = await node.clients(node.clientPod, { count: 1, staysMs: 10_000 });
    await staying.connected;
    let hasLeft = false;
    void staying.result.then(() => (hasLeft = true));
    // Longer than the kernel keeps an ended connection.
    const end = performance.now() + 3_000;
    const checks = new Set<number>();
    await waitFor('three seconds to pass', async () => {
      const found = await quiet();
      if (!hasLeft) checks.add(found);
      return performance.now() > end;
    });
    expect([...checks]).toEqual([0]);
    await staying.result;
    stop.abort();
    await running;
    await close();
  });
});
