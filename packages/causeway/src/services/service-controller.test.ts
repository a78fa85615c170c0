import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KubeClient } from '@causeway/kubernetes/client/client';
import { findConnection } from '@causeway/kubernetes/client/connection';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { HttpTransport } from '@causeway/kubernetes/client/http-transport';
import type { Transport } from '@causeway/kubernetes/client/transport';
import { services } from '@causeway/kubernetes/objects/resources';
import { systemClock, type Clock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { startEmbeddedKubernetes, type EmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import { MemoryProvider } from './memory-provider.testing.ts';
import { cleanupFinalizer } from './plan.ts';
import type { EnsureOutcome } from './provider.ts';
import { recordAnnotation } from './record.ts';
import type { FrontendSpec } from './frontend-spec.ts';
import { providerForServices } from './service-provider.ts';
import { ServiceController } from './service-controller.ts';
import { readyCondition } from './service-status.ts';
import { eventType } from '../cli/event-definitions.ts';

let kubernetes: EmbeddedKubernetes;
let client: KubeClient;
let directory = '';
let stop: AbortController;
let ended: Promise<void> | undefined;
const events: string[] = [];
const requests: string[] = [];
/** Whether lists and watches of Services contain nothing. */
let listsAreEmpty = false;

beforeEach(async () => {
  directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-controller-'));
  kubernetes = await startEmbeddedKubernetes();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const http = new HttpTransport(connection, systemClock);
  const transport: Transport = {
    send: (request, signal) => {
      requests.push(`${request.method} ${request.path.split('?')[0]}`);
      const isIncomplete = listsAreEmpty && request.path.startsWith('/api/v1/services?');
      const path = `${request.path}${isIncomplete ? '&labelSelector=no%3Dsuch' : ''}`;
      return http.send({ ...request, path }, signal);
    },
    close: () => http.close(),
  };
  client = new KubeClient({ transport, clock: systemClock });
  listsAreEmpty = false;
  requests.length = 0;
  events.length = 0;
});

afterEach(async () => {
  await stopController();
  await client.close();
  await kubernetes.stop();
  await fs.rm(directory, { recursive: true });
});

/** Ignores timers of a second and more, so that retries don't depend on the duration of a test. */
const clockWithoutRetries: Clock = {
  ...systemClock,
  timer: (delayMs, callback) =>
    delayMs < 1_000 ? systemClock.timer(delayMs, callback) : { cancel: () => {} },
};

function startController(...providers: MemoryProvider[]): void {
  stop = new AbortController();
  const controller = new ServiceController({
    client,
    providers: { all: providers.map(providerForServices), defaultName: 'gateway' },
    recordEvent: (_service, reason, message) =>
      events.push(`${eventType(reason)} ${reason}: ${message}`),
    workers: 4,
    clock: clockWithoutRetries,
    log: discardLog,
    metrics: noMetrics,
  });
  ended = controller.run(stop.signal);
}

async function stopController(): Promise<void> {
  stop.abort();
  await ended;
}

const patience = { timeout: 120_000, interval: 20 };

const newService = (name: string, port = 80, spec: object = {}): Service => ({
  metadata: { name, namespace: 'default' },
  spec: { type: 'LoadBalancer', ports: [{ port }], ...spec },
});

const read = (name: string) => client.find(services, { namespace: 'default', name });

/** Waits until the check passes for the Service. */
function until(name: string, check: (service: Service | undefined) => void): Promise<void> {
  return vi.waitFor(async () => check(await read(name)), patience);
}

const addressesOf = (service: Service | undefined) =>
  service?.status?.loadBalancer?.ingress?.map(({ ip }) => ip) ?? [];

test('takes over and serves a Service, and holds it until its load balancer is deleted', async () => {
  const provider = new MemoryProvider({ name: 'gateway' });
  startController(provider);
  await client.create(services, newService('web'));
  await until('web', (service) => {
    expect(addressesOf(service)).toEqual(['192.0.2.1']);
    expect(service?.status?.loadBalancer?.ingress?.[0]?.ipMode).toBe('VIP');
    expect(service?.metadata?.finalizers).toEqual([cleanupFinalizer, provider.finalizer]);
    const condition = service?.status?.conditions?.find(({ type }) => type === readyCondition);
    expect(condition).toMatchObject({ status: 'True', reason: 'Served' });
  });
  // This Event is recorded after the status was written.
  await expect
    .poll(() => events, patience)
    .toEqual([
      'Normal EnsuringLoadBalancer: The provider gateway serves the Service from now on',
      'Normal EnsuredLoadBalancer: Served on 192.0.2.1',
    ]);
  await client.delete(services, { namespace: 'default', name: 'web' });
  await until('web', (service) => expect(service).toBeUndefined());
  expect(provider.cloud.size).toBe(0);
});

test('the status shows an address when its provider confirms it, and keeps it', async () => {
  const provider = new MemoryProvider({ name: 'gateway' });
  provider.unconfirmed = 'No gateway can be reached';
  startController(provider);
  await client.create(services, newService('web'));
  const patch = (annotations: object) =>
    client.patchMerge(
      services,
      { namespace: 'default', name: 'web' },
      { metadata: { annotations } },
    );
  const conditionOf = (service: Service | undefined) =>
    service?.status?.conditions?.find(({ type }) => type === readyCondition);
  // The wait is written to the status by a later reconcile.
  await vi.waitFor(async () => {
    await patch({ tick: String(events.length + performance.now()) });
    expect(conditionOf(await read('web'))).toMatchObject({ status: 'False', reason: 'Pending' });
  }, patience);
  expect(addressesOf(await read('web'))).toEqual([]);
  expect(provider.cloud.size).toBe(1);
  provider.unconfirmed = undefined;
  await patch({ tick: 'confirmed' });
  await until('web', (service) => {
    expect(addressesOf(service)).toEqual(['192.0.2.1']);
    expect(conditionOf(service)).toMatchObject({ status: 'True' });
  });
  provider.unconfirmed = 'a change is on its way';
  await patch({ tick: 'changed' });
  await patch({ tick: 'changed again' });
  provider.unconfirmed = undefined;
  await client.create(services, newService('next'));
  await until('next', (service) => expect(addressesOf(service)).toEqual(['192.0.2.2']));
  expect(addressesOf(await read('web'))).toEqual(['192.0.2.1']);
});

test('keeps the load balancer of a Service that the list of Services lacks', async () => {
  const provider = new MemoryProvider({ name: 'gateway' });
  startController(provider);
  await client.create(services, newService('web'));
  await until('web', (service) => expect(addressesOf(service)).toEqual(['192.0.2.1']));
  await stopController();
  listsAreEmpty = true;
  requests.length = 0;
  startController(provider);
  const verified = 'GET /api/v1/namespaces/default/services/web';
  await expect.poll(() => requests, patience).toContain(verified);
  await stopController();
  expect(provider.cloud.size).toBe(1);
  // A Service that was deleted by force in the meantime is released.
  await client.patchMerge(
    services,
    { namespace: 'default', name: 'web' },
    { metadata: { finalizers: null } },
  );
  await client.delete(services, { namespace: 'default', name: 'web' });
  startController(provider);
  await expect.poll(() => provider.cloud.size, patience).toBe(0);
});

test('releases a Service that becomes a ClusterIP, with its status and finalizers', async () => {
  const provider = new MemoryProvider({ name: 'gateway' });
  startController(provider);
  await client.create(services, newService('web'));
  await until('web', (service) => expect(addressesOf(service)).toHaveLength(1));
  await client.patchMerge(
    services,
    { namespace: 'default', name: 'web' },
    { spec: { type: 'ClusterIP' } },
  );
  await until('web', (service) => {
    expect(addressesOf(service)).toEqual([]);
    expect(service?.metadata?.finalizers ?? []).toEqual([]);
    expect(service?.metadata?.annotations?.[recordAnnotation]).toBeUndefined();
    expect(service?.status?.conditions ?? []).toEqual([]);
  });
  expect(provider.cloud.size).toBe(0);
});

test('reports invalid input as an Event and a condition, without effect on other Services', async () => {
  startController(new MemoryProvider({ name: 'gateway' }));
  await client.create(services, newService('bad', 13));
  await client.create(services, newService('good'));
  await until('good', (service) => expect(addressesOf(service)).toEqual(['192.0.2.1']));
  await until('bad', (service) => {
    const condition = service?.status?.conditions?.find(({ type }) => type === readyCondition);
    expect(condition).toMatchObject({ status: 'False', reason: 'PortTaken' });
  });
  expect(events).toContain('Warning PortTaken: Port 13 is not served. Choose another one.');
  await client.patchMerge(
    services,
    { namespace: 'default', name: 'bad' },
    { spec: { ports: [{ port: 14 }] } },
  );
  await until('bad', (service) => expect(addressesOf(service)).toHaveLength(1));
});

test('writes nothing after a restart if all Services are up to date', async () => {
  const provider = new MemoryProvider({ name: 'gateway' });
  startController(provider);
  for (const name of ['a', 'b', 'c']) await client.create(services, newService(name));
  for (const name of ['a', 'b', 'c']) {
    await until(name, (service) =>
      expect(service?.status?.conditions?.[0]).toMatchObject({ status: 'True' }),
    );
  }
  await stopController();
  const versions = async () =>
    Promise.all(['a', 'b', 'c'].map(async (name) => (await read(name))?.metadata?.resourceVersion));
  const before = await versions();
  const seen: string[] = [];
  const next = new MemoryProvider(
    { name: 'gateway', call: (label, effect) => (seen.push(label), Promise.resolve(effect())) },
    provider.cloud,
  );
  startController(next);
  await expect.poll(() => seen.toSorted(), patience).toEqual(['create a', 'create b', 'create c']);
  await stopController();
  expect(await versions()).toEqual(before);
});

test('cleans up at the next start after a Service was deleted while no controller ran', async () => {
  const provider = new MemoryProvider({ name: 'gateway' });
  startController(provider);
  await client.create(services, newService('web'));
  await until('web', (service) => expect(addressesOf(service)).toHaveLength(1));
  await stopController();
  const name = { namespace: 'default', name: 'web' };
  await client.patchMerge(services, name, { metadata: { finalizers: null } });
  await client.delete(services, name);
  expect(provider.cloud.size).toBe(1);
  startController(new MemoryProvider({ name: 'gateway' }, provider.cloud));
  await expect.poll(() => provider.cloud.size, patience).toBe(0);
});

test('keeps an address in the status that another program wrote', async () => {
  let calls = 0;
  const call = <T>(_label: string, effect: () => T) => {
    calls += 1;
    return Promise.resolve(effect());
  };
  startController(new MemoryProvider({ name: 'gateway', call }));
  const name = { namespace: 'default', name: 'web' };
  await client.create(services, newService('web'));
  await until('web', (service) => expect(addressesOf(service)).toEqual(['192.0.2.1']));
  const ingress = ['203.0.113.9', '192.0.2.1'].map((ip) => ({ ip, ipMode: 'VIP' }));
  const status = { loadBalancer: { ingress } };
  await client.patchMerge(services, name, { status }, { subresource: 'status' });
  const before = calls;
  await client.patchMerge(services, name, { metadata: { annotations: { touched: 'yes' } } });
  await expect.poll(() => calls, patience).toBeGreaterThan(before);
  await stopController();
  expect(addressesOf(await read('web'))).toEqual(['203.0.113.9', '192.0.2.1']);
});

test('keeps the retry delay of a failure with a different message each time', async () => {
  let tries = 0;
  const provider = new MemoryProvider({
    name: 'gateway',
    call: (label) => {
      tries += 1;
      return Promise.reject(new Error(`request ${tries} to ${label} failed`));
    },
  });
  startController(provider);
  await client.create(services, newService('web'));
  await until('web', (service) => {
    const condition = service?.status?.conditions?.find(({ type }) => type === readyCondition);
    expect(condition?.message).toMatch(/request \d+ to create web failed/);
  });
  await client.create(services, newService('unlucky', 13));
  await until('unlucky', (service) => expect(service?.status?.conditions).toHaveLength(1));
  // The record, which is written first, queues the Service once more.
  expect(tries).toBeLessThanOrEqual(2);
});

test('does not treat a concurrent change of the Service as a failure', async () => {
  class ChangedDuringEnsure extends MemoryProvider {
    isChanged = false;

    override async ensure(frontend: FrontendSpec): Promise<EnsureOutcome> {
      if (!this.isChanged) {
        this.isChanged = true;
        const labels = { changed: 'concurrently' };
        await client.patchMerge(
          services,
          { namespace: 'default', name: 'web' },
          { metadata: { labels } },
        );
      }
      return super.ensure(frontend);
    }
  }
  startController(new ChangedDuringEnsure({ name: 'gateway' }));
  await client.create(services, newService('web'));
  await until('web', (service) => {
    const condition = service?.status?.conditions?.find(({ type }) => type === readyCondition);
    expect(condition).toMatchObject({ status: 'True' });
  });
  expect(events.filter((event) => event.startsWith('Warning'))).toEqual([]);
});

test('records the failed update of a served Service as a separate Event', async () => {
  class Failing extends MemoryProvider {
    override update(): Promise<EnsureOutcome> {
      return Promise.reject(new Error('the backends are gone'));
    }
  }
  startController(new Failing({ name: 'gateway' }));
  await client.create(services, newService('web'));
  await until('web', (service) => expect(addressesOf(service)).toHaveLength(1));
  const labels = { touched: 'yes' };
  await client.patchMerge(
    services,
    { namespace: 'default', name: 'web' },
    { metadata: { labels } },
  );
  await expect
    .poll(() => events, patience)
    .toContain('Warning UpdateLoadBalancerFailed: the backends are gone');
});
