import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import { keyOf } from '@causeway/kubernetes/objects/object';
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
import { Cluster } from './follow-cluster.ts';
import { proxyNameLabel } from './followed-objects.ts';
import type { ServiceProxy } from './served-service.ts';
import { makeSlice } from './testing/objects.ts';

/** Keeps the last state of each object. */
class Listener implements ServiceProxy {
  readonly services = new Set<string>();
  readonly slices = new Set<string>();
  isSynced = false;
  setService(service: Service): void {
    this.services.add(keyOf(service));
  }
  removeService(key: string): void {
    this.services.delete(key);
  }
  setSlice(slice: Service): void {
    this.slices.add(keyOf(slice));
  }
  removeSlice(key: string): void {
    this.slices.delete(key);
  }
  synced(): void {
    this.isSynced = true;
  }
}

describe('Cluster', () => {
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
    servesAll: boolean,
    work: (listener: Listener, cluster: Cluster) => Promise<void>,
  ) {
    const cluster = new Cluster({
      client,
      nodeName: 'node1',
      serviceProxyName: 'causeway',
      servesAll,
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    });
    const listener = new Listener();
    const stop = new AbortController();
    const running = cluster.run(stop.signal);
    await cluster.follow(listener, stop.signal);
    await work(listener, cluster);
    stop.abort();
    await running;
  }

  const until = (what: () => unknown, expected: unknown) => expect.poll(what).toEqual(expected);

  it('follows labelled Services only beside kube-proxy, and applies label changes', async () => {
    await follow(false, async (listener, cluster) => {
      expect(listener.isSynced).toBe(true);
      expect([...listener.services]).toEqual(['shop/ours']);
      expect([...listener.slices]).toEqual(['shop/ours-1']);
      expect(cluster.node?.metadata?.name).toBe('node1');
      expect(cluster.readiness()).toBeUndefined();
      const name = { namespace: 'shop', name: 'plain' };
      const label = (value: string | null) =>
        client.patchMerge(services, name, { metadata: { labels: { [proxyNameLabel]: value } } });
      await label('causeway');
      await until(() => [...listener.services], ['shop/ours', 'shop/plain']);
      await label(null);
      await until(() => [...listener.services], ['shop/ours']);
      await client.delete(endpointSlices, { namespace: 'shop', name: 'ours-1' });
      await until(() => [...listener.slices], []);
    });
  });

  it('follows all Services without the label of another proxy in place of kube-proxy', async () => {
    await follow(true, async (listener) => {
      expect(listener.services).toEqual(new Set(['default/kubernetes', 'shop/ours', 'shop/plain']));
      await client.delete(services, { namespace: 'shop', name: 'ours' });
      await until(() => listener.services.has('shop/ours'), false);
    });
  });
});
