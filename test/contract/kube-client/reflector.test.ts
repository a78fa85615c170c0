import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import type { ConfigMap } from '../../../packages/kubernetes/src/objects/core-objects.ts';
import { keyOf } from '../../../packages/kubernetes/src/objects/object.ts';
import { withSlimMetadata } from '../../../packages/kubernetes/src/cache/projection.ts';
import { Reflector } from '../../../packages/kubernetes/src/cache/reflector.ts';
import { configMaps } from '../../../packages/kubernetes/src/objects/resources.ts';
import { Store } from '../../../packages/kubernetes/src/cache/store.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { startTcpProxy, type TcpProxy } from '../../doubles/tcp-proxy.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, clusters, connectionTo, type Cluster } from './cluster.ts';

const namespace = 'default';
const labels = { suite: 'reflector' };

describe.each(clusters)('the reflector on $name', ({ start }) => {
  let cluster: Cluster;
  let direct: KubeClient;
  let network: TcpProxy;
  let through: KubeClient;
  const store = new Store<ConfigMap>();
  const seen: string[] = [];
  const states = new Set<string>();
  const restarts: object[] = [];
  const stop = new AbortController();
  let reflector: Reflector<ConfigMap, ConfigMap>;
  let running: Promise<void>;

  beforeAll(async () => {
    cluster = await start();
    const { hostname, port } = new URL(cluster.url);
    network = await startTcpProxy({ host: hostname, port: Number(port) });
    direct = clientFor(await connectionTo(cluster));
    const server = `https://127.0.0.1:${network.port}`;
    through = clientFor(await connectionTo(cluster, { server }));
    for (const name of ['a', 'b']) await create(name);
    store.onChange((change) => {
      const object = change.type === 'deleted' ? change.before : change.after;
      seen.push(`${change.type} ${change.key}`);
      if (change.type === 'deleted') return;
      const state = `${object.metadata?.uid} ${object.metadata?.resourceVersion}`;
      expect(states.has(state), `${state} was notified twice`).toBe(false);
      states.add(state);
    });
    reflector = new Reflector({
      client: through,
      resource: configMaps,
      store,
      projection: withSlimMetadata,
      selection: { labelSelector: 'suite=reflector' },
      clock: systemClock,
      log: discardLog,
      metrics: { ...noMetrics, counter: () => ({ add: (labels) => restarts.push(labels) }) },
    });
    running = reflector.run(stop.signal);
    await store.synced;
  });

  afterAll(async () => {
    stop.abort();
    await running;
    await Promise.all([direct?.close(), through?.close()]);
    await network?.close();
    await cluster?.stop();
  });

  const create = (name: string) =>
    direct.create(configMaps, { metadata: { namespace, name, labels } });
  const touch = (name: string, value: string) =>
    direct.patchMerge(configMaps, { namespace, name }, { data: { value } });
  const remove = (name: string) => direct.delete(configMaps, { namespace, name });

  /** Waits until the store equals the server's state, and returns the notifications of the handlers. */
  async function caughtUp(): Promise<string[]> {
    await waitFor('the store to hold what the server has', async () => {
      const versions = (objects: Iterable<ConfigMap>) =>
        [...objects].map((each) => `${keyOf(each)} ${each.metadata?.resourceVersion}`).sort();
      const there: ConfigMap[] = [];
      for await (const each of direct.list(configMaps, { labelSelector: 'suite=reflector' })) {
        there.push(each);
      }
      return versions(there).join() === versions(store.values()).join();
    });
    return seen.splice(0).sort();
  }

  it('loads existing objects, without managed fields', async () => {
    expect(await caughtUp()).toEqual(['added default/a', 'added default/b']);
    expect(store.get('default/a')?.metadata?.managedFields).toBeUndefined();
    expect(reflector.readiness()).toBeUndefined();
  });

  it('follows changes, including objects that enter and leave the selection', async () => {
    await create('c');
    await touch('a', '1');
    await remove('b');
    await direct.patchMerge(
      configMaps,
      { namespace, name: 'c' },
      { metadata: { labels: { suite: null } } },
    );
    await waitFor('c to be gone', () => store.get('default/c') === undefined && seen.length >= 4);
    expect(await caughtUp()).toEqual([
      'added default/c',
      'deleted default/b',
      'deleted default/c',
      'updated default/a',
    ]);
  });

  it('survives cut connections', async () => {
    for (let round = 0; round < 3; round += 1) {
      network.cut();
      await touch('a', `cut ${round}`);
      network.restore();
      expect(await caughtUp()).toEqual(['updated default/a']);
    }
  });

  it('survives a crash of the server', async () => {
    await cluster.restart();
    // A read is retried when it meets a connection that the crash has broken; a write is not.
    await direct.get(configMaps, { namespace, name: 'a' });
    await create('after-crash');
    expect(await caughtUp()).toEqual(['added default/after-crash']);
  });

  it('lists again and applies the difference when its history is compacted', async () => {
    network.cut();
    await touch('a', 'before the compaction');
    await remove('after-crash');
    await create('late');
    await cluster.dropHistory();
    network.restore();
    expect(await caughtUp()).toEqual([
      'added default/late',
      'deleted default/after-crash',
      'updated default/a',
    ]);
    expect(restarts).toContainEqual({ resource: 'configmaps', reason: 'gone' });
    await waitFor('the reflector to follow again', () => reflector.state === 'watching');
  });
});
