import { afterEach, expect, it } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { systemClock } from '@causeway/base/time/clock';
import { supervise } from '@causeway/base/work/supervisor';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { installCustomResources } from '@causeway/kubernetes/objects/custom-resources';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import { idledAt } from '../idling/annotations.ts';
import { buildProxy } from './build-proxy.ts';
import {
  egressNetworkPolicies,
  egressNetworkPolicyDefinition,
} from './egress-firewall/egress-network-policy.ts';
import { nodeContext } from './node-context.ts';
import { ProxyStore } from './proxy-store.ts';
import type { ServedService } from './served-service.ts';
import { proxySettings } from './settings.ts';
import { makeService, makeSlice } from './testing/objects.ts';
import { StoreWriter } from './testing/store-writer.ts';
import { eventType } from '../cli/event-definitions.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});
const surroundings = { clock: systemClock, log: discardLog, metrics: noMetrics };

/** Records the Events without sending them. */
class RecordedEvents extends EventRecorder {
  readonly recorded: string[] = [];

  override record(_: unknown, object: KubeObject, { reason }: EventContent): boolean {
    this.recorded.push(`${keyOf(object)} ${reason}`);
    return true;
  }
}

/** A proxy with these settings on an in-memory kernel. `run` starts its rules and its egress firewall. */
function build(changed: object) {
  const client = memoryKubeClient();
  const settings = { ...proxySettings.parse(changed), nodeName: 'node1' };
  const store = new ProxyStore({ ...surroundings, node: nodeContext(settings, undefined, []) });
  const recorder = new RecordedEvents({
    ...surroundings,
    client,
    component: 't',
    instance: 't',
    eventType,
  });
  const { pipeline, loops } = buildProxy(
    {
      ...surroundings,
      settings,
      client,
      recorder,
      driver: new MemoryDriver('causeway-proxy'),
      canAccept: true,
      connections: {
        deleteConnections: () => Promise.resolve(0),
        deleteStaleEntries: () => Promise.resolve(0),
        connected: () => Promise.resolve(new Set()),
      },
    },
    store,
  );
  const served = new Map<string, ServedService>();
  pipeline.onCommit((services) => {
    for (const one of services) served.set(one.service, one);
  });
  const ways = () =>
    Object.fromEntries(
      [...served].map(([key, { diversion }]) => [key, diversion?.kind ?? 'serve']),
    );
  const stop = new AbortController();
  const run = () => {
    const own = ['rules', 'egress firewall'].flatMap((name) => {
      const loop = loops[name];
      return loop === undefined ? [] : [[name, loop] as const];
    });
    const running = supervise(stop.signal, Object.fromEntries(own)).catch(() => {});
    cleanUps.push(() => {
      stop.abort();
      return running;
    });
  };
  const objects = new StoreWriter(store);
  const { recorded } = recorder;
  return { client, objects, loops, served, ways, recorded, run, signal: stop.signal };
}

const idle = (name: string, clusterIP = '10.96.0.1') =>
  makeService({
    metadata: { namespace: 'default', name, annotations: { [idledAt]: 'now' } },
    spec: { clusterIP },
  });

it.each([
  ['by default', {}, 'park'],
  ['not where it is switched off', { idling: { enabled: false } }, 'serve'],
])('an idle Service is held %s', async (_, settings, way) => {
  const { objects, loops, ways, run } = build(settings);
  objects.setService(idle('web'));
  objects.synced();
  run();
  await expect.poll(ways, { timeout: 60_000 }).toEqual({ 'default/web': way });
  expect('idle Services' in loops).toBe(way === 'park');
});

it('hides a denied endpoint from the holder, so that it does not wake the Service', async () => {
  const settings = { egressFirewall: { clusterNetworks: ['10.1.0.0/16'] } };
  const { client, objects, served, ways, recorded, run, signal } = build(settings);
  await installCustomResources(client, [egressNetworkPolicyDefinition], {
    clock: systemClock,
    signal,
    fieldManager: 'test',
  });
  const egress = [{ type: 'Deny', to: { cidrSelector: '203.0.113.0/24' } }];
  await client.create(egressNetworkPolicies, {
    metadata: { namespace: 'default', name: 'deny' },
    spec: { egress },
  });
  objects.setService(idle('hidden', '10.96.0.1'));
  objects.setService(idle('shown', '10.96.0.2'));
  objects.synced();
  run();
  const until = (expected: object) => expect.poll(ways, { timeout: 60_000 }).toEqual(expected);
  await until({ 'default/hidden': 'park', 'default/shown': 'park' });
  const setSlice = (service: string, address: string) => {
    const slice = makeSlice({ service, name: service, addresses: [address] });
    objects.setSlice({ ...slice, metadata: { ...slice.metadata, namespace: 'default' } });
  };
  setSlice('hidden', '203.0.113.1');
  setSlice('shown', '10.1.0.1');
  await until({ 'default/hidden': 'park', 'default/shown': 'serve' });
  const dispatch = (key: string) => served.get(key)?.targets[0]?.virtual.dispatch;
  expect(dispatch('default/hidden')).toMatchObject({ kind: 'hold' });
  expect(dispatch('default/shown')).toMatchObject({ backends: [{ address: '10.1.0.1' }] });
  expect(recorded).toEqual(['default/hidden EgressDenied']);
  setSlice('hidden', '10.1.0.2');
  await until({ 'default/hidden': 'serve', 'default/shown': 'serve' });
});
