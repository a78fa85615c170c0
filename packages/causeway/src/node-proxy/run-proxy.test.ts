import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import type { EventContent, EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { runProxy } from './run-proxy.ts';
import { proxySettings } from './settings.ts';

let kubernetes: EmbeddedKubernetes;
let client: KubeClient;
let directory = '';
let stop: AbortController;
let ended: Promise<void>;
const recorded: string[] = [];

beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-proxy-'));
  kubernetes = await startEmbeddedKubernetes();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const clock = systemClock;
  const connection = await findConnection({ kubeconfig, env: {}, clock });
  client = new KubeClient({ transport: new HttpTransport(connection, clock), clock });
  await client.create(nodes, { metadata: { name: 'node1' } });
  const ports = { address: '127.0.0.1', port: 0 };
  stop = new AbortController();
  const parts = {
    settings: { ...proxySettings.parse({ health: ports, metrics: ports }), nodeName: 'node1' },
    client,
    driver: new MemoryDriver('causeway-proxy'),
    connections: {
      deleteConnections: () => Promise.resolve(0),
      deleteStaleEntries: () => Promise.resolve(0),
      connected: () => Promise.resolve(new Set<never>()),
    },
    recorder: {
      record: (_: unknown, { metadata }: KubeObject, { reason, message }: EventContent) =>
        recorded.push(`${metadata?.name} ${reason}: ${message}`),
    } as unknown as EventRecorder,
    kernelSettings: { read: () => Promise.resolve(null), write: () => Promise.resolve() },
    canAccept: false,
    metricsPage: () => Promise.resolve({ type: 'text/plain', body: '' }),
    clock,
    log: discardLog,
    metrics: noMetrics,
  };
  ended = runProxy(parts, stop.signal);
});

afterEach(async () => {
  stop.abort();
  await ended.catch(() => undefined);
  await client.close();
  await kubernetes.stop();
  await fs.rm(directory, { recursive: true });
});

test('records AddressTaken for the second Service with the same external address and port', async () => {
  const labels = { 'service.kubernetes.io/service-proxy-name': 'causeway' };
  const spec = { ports: [{ port: 80 }], externalIPs: ['198.51.100.7'] };
  for (const name of ['first', 'second']) {
    await client.create(services, { metadata: { namespace: 'default', name, labels }, spec });
  }
  await expect
    .poll(() => recorded)
    .toContainEqual(
      expect.stringContaining(
        'second AddressTaken: 198.51.100.7 (TCP/80) belongs to default/first',
      ),
    );
  expect(recorded.join('\n')).not.toContain('first AddressTaken');
});

test('records EndpointLossHeld about its node when most Services lose their endpoints', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const endpoints = (isReady: boolean) => [
    { addresses: ['10.1.0.1'], conditions: { ready: isReady, serving: isReady } },
  ];
  for (const name of names) {
    await client.create(endpointSlices, {
      metadata: { namespace: 'default', name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      endpoints: endpoints(true),
      ports: [{ name: '', port: 8080, protocol: 'TCP' }],
    });
  }
  // The proxy has seen the last slice when it serves the Service behind it.
  const labels = { 'service.kubernetes.io/service-proxy-name': 'causeway' };
  const spec = { ports: [{ port: 80 }], externalIPs: ['198.51.100.8'] };
  for (const name of ['x', 'y']) {
    await client.create(services, { metadata: { namespace: 'default', name, labels }, spec });
  }
  await expect.poll(() => recorded.join('\n')).toContain('y AddressTaken: 198.51.100.8');
  for (const name of names) {
    const change = { endpoints: endpoints(false) };
    await client.patchMerge(endpointSlices, { namespace: 'default', name }, change);
  }
  await expect
    .poll(() => recorded.join('\n'), { timeout: 20_000 })
    .toContain('node1 EndpointLossHeld: All endpoints of 5 of 5 Services are not ready');
});
