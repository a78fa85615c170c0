import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parsePrefix } from '@causeway/base/address/prefix';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { seededRandom } from '@causeway/base/simulation/random';
import { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import { asObject } from '../object.ts';
import type { Endpoint } from '../resources/endpoint-slice.ts';
import { builtInResources } from '../resources/built-in-resources.ts';
import { isPodReady, type Pod } from '../resources/pod/pod-type.ts';
import type { Deployment } from '../resources/workload-type.ts';
import { ObjectStore } from '../store.ts';
import { MemoryPodRunner } from './memory-pod-runner.ts';
import { startControllers } from './start-controllers.ts';

const network = {
  clusterIpRanges: [parsePrefix('10.96.0.0/24')],
  nodePorts: { first: 30_000, last: 30_099 },
};

let cluster: EmbeddedCluster;
let runner: MemoryPodRunner;
let controllers: { stop(): Promise<void> };

beforeEach(() => {
  const store = new ObjectStore();
  cluster = new EmbeddedCluster(systemClock, store);
  cluster.serve(builtInResources(store, network, seededRandom(1), systemClock));
  runner = new MemoryPodRunner([parsePrefix('10.244.0.0/24'), parsePrefix('fd00:244::/64')]);
  for (const name of ['default', 'other']) {
    cluster.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const name of ['node-1', 'node-2']) {
    cluster.create('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  }
  const setting = { api: cluster, clock: systemClock, log: discardLog, metrics: noMetrics };
  controllers = startControllers(setting, { schedulesPods: true, runner });
});

afterEach(() => controllers.stop());

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image, ports: [{ name: 'http', containerPort: 8080 }] }] },
});

function deploy(replicas: number): void {
  cluster.create('deployments.apps', {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: template('web:1') },
  });
}

const pods = () => cluster.store.list('pods', 'default').map((pod) => pod as Pod);
const deployment = () => cluster.store.get('deployments.apps', 'default', 'web') as Deployment;
const ready = () => pods().filter(isPodReady);
const endpoints = () =>
  cluster.store
    .list('endpointslices.discovery.k8s.io', 'default')
    .flatMap((slice) => (slice['endpoints'] ?? []) as Endpoint[]);

/** Number of event loop iterations before the next write, at most 50. */
async function idleIterations(): Promise<number> {
  const { version } = cluster.store;
  for (let turn = 0; turn < 50; turn += 1) {
    if (cluster.store.version !== version) return turn;
    await nextTurn();
  }
  return 50;
}

describe('a live cluster', () => {
  test('runs the replicas of a Deployment, spread over its nodes', async () => {
    deploy(4);
    await expect.poll(() => deployment().status?.availableReplicas).toBe(4);
    const nodes = pods().map(({ spec }) => spec.nodeName);
    expect(nodes.filter((name) => name === 'node-1')).toHaveLength(2);
    const [first] = pods();
    expect(first?.status).toMatchObject({ phase: 'Running', hostIP: '192.0.2.1' });
    expect(first?.status?.podIPs).toHaveLength(2);
    const addresses = pods().map(({ status }) => status?.podIP);
    expect(new Set(addresses).size).toBe(4);
  });

  test('rolls out a new version and keeps the Service available', async () => {
    deploy(4);
    await expect.poll(() => ready().length).toBe(4);
    let fewest = 4;
    const watch = cluster.store.watch('pods', cluster.store.version, () => {
      fewest = Math.min(
        fewest,
        ready().filter(({ metadata }) => metadata.deletionTimestamp === undefined).length,
      );
    });
    const draft = structuredClone(deployment());
    draft.spec.template = template('web:2');
    cluster.update('deployments.apps', draft);
    await expect
      .poll(() => pods().map(({ spec }) => spec.containers[0]?.image))
      .toEqual(Array(4).fill('web:2'));
    await expect.poll(() => deployment().status?.availableReplicas).toBe(4);
    watch.close();
    expect(fewest).toBeGreaterThanOrEqual(3);
  });

  test('removes a pod from its endpoints while it is not ready', async () => {
    deploy(2);
    cluster.create('services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
    });
    const serving = () => endpoints().filter(({ conditions }) => conditions?.ready === true).length;
    await expect.poll(serving).toBe(2);
    const [pod] = pods();
    runner.setReady(`default/${pod?.metadata.name ?? ''}`, false);
    await expect.poll(serving).toBe(1);
    expect(endpoints()).toHaveLength(2);
    runner.setReady(`default/${pod?.metadata.name ?? ''}`, true);
    await expect.poll(serving).toBe(2);
  });

  test('terminates deleted pods and releases their addresses', async () => {
    deploy(1);
    await expect.poll(() => ready().length).toBe(1);
    const [pod] = pods();
    cluster.delete('pods', 'default', pod?.metadata.name ?? '');
    await expect
      .poll(() => ready().map(({ metadata }) => metadata.uid))
      .not.toContain(pod?.metadata.uid);
    await expect.poll(() => ready().length).toBe(1);
    expect(pods()).toHaveLength(1);
  });

  test('keeps pods that fit no node pending and gives the reason', async () => {
    cluster.create('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'picky', namespace: 'default' },
      spec: { nodeSelector: { disk: 'fast' }, containers: [{ name: 'main', image: 'x' }] },
    });
    const message = () =>
      pods()[0]?.status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
    await expect
      .poll(message)
      .toBe("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.");
    const node = structuredClone(cluster.store.get('nodes', undefined, 'node-2'));
    if (node === undefined) throw new Error('there is no node');
    node.metadata.labels = { disk: 'fast' };
    cluster.update('nodes', node);
    await expect.poll(() => pods()[0]?.spec.nodeName).toBe('node-2');
  });

  test('runs a daemon on every eligible node and updates the daemons one by one', async () => {
    cluster.create('daemonsets.apps', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'agent', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, template: template('agent:1') },
    });
    await expect
      .poll(() => new Set(ready().map(({ spec }) => spec.nodeName)))
      .toEqual(new Set(['node-1', 'node-2']));
    cluster.create('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-3' } });
    await expect.poll(() => ready().length).toBe(3);
    const set = structuredClone(cluster.store.get('daemonsets.apps', 'default', 'agent'));
    if (set === undefined) throw new Error('there is no DaemonSet');
    set['spec'] = { ...asObject(set['spec']), template: template('agent:2') };
    cluster.update('daemonsets.apps', set);
    await expect
      .poll(() => ready().map(({ spec }) => spec.containers[0]?.image))
      .toEqual(Array(3).fill('agent:2'));
    cluster.delete('nodes', undefined, 'node-3');
    await expect.poll(() => pods().length).toBe(2);
  });

  test('stops writing when there is nothing left to do', async () => {
    deploy(2);
    for (const selector of [{ app: 'web' }, { app: 'nobody' }]) {
      const metadata = { name: `svc-${selector.app}`, namespace: 'default' };
      const spec = { selector, ports: [{ port: 80 }] };
      cluster.create('services', { apiVersion: 'v1', kind: 'Service', metadata, spec });
    }
    cluster.create('statefulsets.apps', {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'db', namespace: 'default' },
      spec: {
        replicas: 2,
        serviceName: 'db',
        selector: { matchLabels: { app: 'web', set: 'db' } },
        template: { ...template('db:1'), metadata: { labels: { app: 'web', set: 'db' } } },
      },
    });
    await expect.poll(() => ready().length).toBe(4);
    await expect.poll(idleIterations).toBe(50);
  });

  test('empties a namespace that is deleted', async () => {
    deploy(2);
    await expect.poll(() => ready().length).toBe(2);
    await expect.poll(() => cluster.store.get('serviceaccounts', 'other', 'default')).toBeDefined();
    cluster.create('configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'x', namespace: 'other' },
    });
    cluster.delete('namespaces', undefined, 'other');
    await expect.poll(() => cluster.store.get('namespaces', undefined, 'other')).toBeUndefined();
    expect(cluster.store.list('configmaps', 'other')).toEqual([]);
    expect(ready()).toHaveLength(2);
  });
});
