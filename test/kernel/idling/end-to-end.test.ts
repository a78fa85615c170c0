import { afterEach, describe, expect, it } from 'vitest';
import { Idler } from '../../../packages/causeway/src/idling/idler.ts';
import { listIdle } from '../../../packages/causeway/src/idling/list-idle.ts';
import { ScaleDiscovery } from '../../../packages/causeway/src/idling/scale-discovery.ts';
import { idlingSettings } from '../../../packages/causeway/src/idling/settings.ts';
import { UnidlingController } from '../../../packages/causeway/src/idling/unidling-controller.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { followCluster } from '../../../packages/causeway/src/node-proxy/follow-cluster.ts';
import { IdleServices } from '../../../packages/causeway/src/node-proxy/holder/idle-services.ts';
import { holderSettings } from '../../../packages/causeway/src/node-proxy/holder/settings.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { supervise } from '../../../packages/base/src/work/supervisor.ts';
import { addNode, sleepyDeployment, webService } from '../../contract/idling/objects.ts';
import { clientFor, connectionTo } from '../../contract/kube-client/cluster.ts';
import { LiveCluster, type Workspace } from '../../contract/kubernetes-live/live-cluster.ts';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { canUseNamespaces } from '../../services/namespaces.ts';
import { waitFor } from '../../services/wait-for.ts';
import { Node, openPipeline } from './node.ts';

const setting = { clock: systemClock, log: discardLog, metrics: noMetrics };
const hasReal = await isAvailable(() => prepareKubernetes({ controllerManager: true }));

/** A whole cluster except for the kubelet, which the test simulates. */
describe.runIf(canUseNamespaces() && hasReal).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('a Service is idled and woken on the %s cluster', (_, start) => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  it("by the first connection, repeatedly, and the pod sees the client's address", async () => {
    const cluster = await start();
    cleanUps.push(() => cluster.server.stop());
    const client = clientFor(await connectionTo(cluster.server));
    cleanUps.push(() => client.close());
    await addNode(cluster);
    const node = await Node.create();
    cleanUps.push(() => node.remove());
    await node.startPod();
    const space = await cluster.workspace('shop');
    await space.create('services', webService('web'));
    await space.create('deployments', sleepyDeployment('web', 1));
    const { spec } = await client.get(services, { namespace: 'shop', name: 'web' });

    const stop = new AbortController();
    const proxy = await runProxy(node, client);
    const controller = new UnidlingController({
      ...setting,
      client,
      settings: idlingSettings.parse({}),
      workers: 2,
      recordEvent: () => {},
    });
    const running = supervise(stop.signal, {
      proxy: (inner) => proxy.run(inner),
      controller: (inner) => controller.run(inner),
      kubelet: (inner) => simulateKubelet(space, inner),
    });
    cleanUps.push(() => {
      stop.abort();
      return running;
    });

    const idler = new Idler({ ...setting, client, discovery: new ScaleDiscovery(client) });
    for (let round = 0; round < 2; round += 1) {
      await space.until('a ready pod', 'endpointslices', (all) =>
        JSON.stringify(all).includes('"ready":true'),
      );
      await idler.idle({ namespace: 'shop', name: 'web' }, stop.signal);
      await waitFor('the proxy to hold it', () => proxy.diverted.has('shop/web'));
      const order = { address: spec?.clusterIP, count: 5 };
      const { result } = await node.clients(node.clientPod, order);
      const { served, seen, errors } = await Promise.race([result, running.then(() => result)]);
      expect({ served, seen, errors }).toEqual({ served: 5, seen: { '10.1.1.2': 5 }, errors: {} });
      await space.untilObject(
        'the mark to go',
        'services',
        'web',
        ({ metadata }) => !JSON.stringify(metadata.annotations ?? {}).includes('idled-at'),
      );
      expect(await listIdle(client, 'shop', stop.signal)).toEqual([]);
    }
  });
});

/** The node's proxy with its reflectors. */
async function runProxy(node: Node, client: KubeClient) {
  const networkNamespace = node.host.path;
  const settings = holderSettings.parse({});
  const nodeName = 'node-1';
  const idle = new IdleServices({ ...setting, settings, client, node: nodeName, networkNamespace });
  const opened = await openPipeline(networkNamespace, { idling: idle.stage });
  const { pipeline, store, close } = opened;
  const diverted = new Set<string>();
  pipeline.onCommit((served) => idle.onCommit(served));
  pipeline.onCommit((served) => {
    for (const { service, diversion } of served) {
      if (diversion === undefined) diverted.delete(service);
      else diverted.add(service);
    }
  });
  const run = async (signal: AbortSignal) => {
    await supervise(signal, {
      cluster: (inner) => followCluster({ ...setting, store, client, nodeName }, inner),
      pipeline: (inner) => pipeline.run(inner),
      idle: (inner) => idle.run(inner),
    });
    await close();
  };
  return { run, diverted };
}

/** Every new pod is the listener in the namespace. */
async function simulateKubelet(space: Workspace, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const pod of await space.list('pods')) {
      if (pod.status['phase'] === 'Pending') await space.report(pod, true, '10.1.2.2');
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
