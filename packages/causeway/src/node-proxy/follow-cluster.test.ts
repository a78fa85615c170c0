import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { whenSynced } from '@causeway/kubernetes/cache/store';
import {
  endpointSlices,
  namespaces,
  nodes,
  services,
} from '@causeway/kubernetes/objects/resources';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import { followCluster, servedBy } from './follow-cluster.ts';
import { proxyNameLabel } from './followed-objects.ts';
import { ProxyStore } from './proxy-store.ts';
import { makeSlice } from './testing/objects.ts';
import { tracedNode } from './testing/traced-node.ts';

describe('followCluster', () => {
  let api: EmbeddedKubernetes;
  let client: KubeClient;
  let directory = '';
  const service = (name: string, labels: Record<string, string> = {}): Service => ({
    metadata: { namespace: 'shop', name, labels },
    spec: { ports: [{ port: 80 }] },
  });

  beforeAll(async () => {
    api = await startEmbeddedKubernetes();
    directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-proxy-'));
    const kubeconfig = path.join(directory, 'kubeconfig');
    await fs.writeFile(kubeconfig, api.kubeconfig);
    const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
    const transport = new HttpTransport(connection, systemClock);
    client = new KubeClient({ transport, clock: systemClock, metrics: noMetrics });
    await client.create(namespaces, { metadata: { name: 'shop' } });
    for (const name of ['node1', 'node2']) await client.create(nodes, { metadata: { name } });
    await client.create(services, service('plain'));
    await client.create(services, service('ours', { [proxyNameLabel]: 'causeway' }));
    await client.create(services, service('other', { [proxyNameLabel]: 'another' }));
    await client.create(services, service('hidden', { 'service.kubernetes.io/headless': '' }));
    await client.create(endpointSlices, makeSlice({ service: 'ours', addresses: ['10.1.0.1'] }));
  });
  afterAll(async () => {
    await client.close();
    await api.stop();
    await fs.rm(directory, { recursive: true });
  });

  async function follow(
    scope: 'labelled' | 'all',
    work: (store: ProxyStore) => Promise<void>,
  ): Promise<void> {
    const surroundings = { clock: systemClock, log: discardLog };
    const serves = servedBy({ serviceProxyName: 'causeway', services: scope });
    const store = new ProxyStore({ ...surroundings, node: tracedNode, serves });
    const stop = new AbortController();
    const running = followCluster(
      { ...surroundings, store, client, nodeName: 'node1', metrics: noMetrics },
      stop.signal,
    );
    await whenSynced([store.services, store.slices, store.nodes], stop.signal);
    await work(store);
    stop.abort();
    await running;
  }

  const until = (what: () => unknown, expected: unknown) => expect.poll(what).toEqual(expected);

  it('follows labelled Services only beside kube-proxy, and applies label changes', async () => {
    await follow('labelled', async (store) => {
      expect([...store.services.keys()]).toEqual(['shop/ours']);
      expect([...store.slices.keys()]).toEqual(['shop/ours-1']);
      expect([...store.nodes.keys()]).toEqual(['node1']);
      const name = { namespace: 'shop', name: 'plain' };
      const label = (value: string | null) =>
        client.patchMerge(services, name, { metadata: { labels: { [proxyNameLabel]: value } } });
      await label('causeway');
      await until(() => [...store.services.keys()], ['shop/ours', 'shop/plain']);
      await label(null);
      await until(() => [...store.services.keys()], ['shop/ours']);
      await client.delete(endpointSlices, { namespace: 'shop', name: 'ours-1' });
      await until(() => [...store.slices.keys()], []);
    });
  });

  it('follows all Services without the label of another proxy in place of kube-proxy', async () => {
    await follow('all', async (store) => {
      expect(new Set(store.services.keys())).toEqual(
        new Set(['default/kubernetes', 'shop/ours', 'shop/plain']),
      );
      await client.delete(services, { namespace: 'shop', name: 'ours' });
      await until(() => store.services.get('shop/ours') !== undefined, false);
    });
  });
});
