import { expect, it, vi } from 'vitest';
import { idledAt } from '../../idling/annotations.ts';
import { installCustomResources } from '@causeway/kubernetes/objects/custom-resources';
import type { EventRecorder } from '@causeway/kubernetes/events/event-recorder';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { MemoryDriver } from '@causeway/nftables/drivers/memory-driver';
import {
  egressNetworkPolicies,
  egressNetworkPolicyDefinition,
} from '../../node-proxy/egress-firewall/egress-network-policy.ts';
import type { DivertibleProxy } from '../../node-proxy/served-service.ts';
import { proxySettings } from '../../node-proxy/settings.ts';
import { makeService, makeSlice } from '../../node-proxy/testing/objects.ts';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { wrapBase } from './wrap.ts';

/** A base proxy that records its calls. */
function notingBase() {
  const slices = new Set<string>();
  const diverted = new Map<string, string>();
  let isSynced = false;
  const base: DivertibleProxy = {
    setService: () => {},
    removeService: () => {},
    setSlice: (slice) => void slices.add(keyOf(slice)),
    removeSlice: (key) => void slices.delete(key),
    synced: () => {
      isSynced = true;
    },
    divert: (key, to) => {
      if (to === undefined) diverted.delete(key);
      else diverted.set(key, to.kind);
    },
    onCommit: () => () => {},
  };
  return { base, slices, diverted, isSynced: () => isSynced };
}

/** Wraps a base proxy with these settings. */
function wrap(base: DivertibleProxy, settings: object, recorded: string[] = []) {
  const client = memoryKubeClient();
  const wrapped = wrapBase(base, {
    settings: { ...proxySettings.parse(settings), nodeName: 'node1' },
    client,
    driver: new MemoryDriver('causeway-proxy'),
    node: () => undefined,
    canAccept: true,
    recorder: {
      recordAbout: (_: unknown, { reason }: { reason: string }) => recorded.push(reason),
    } as unknown as EventRecorder,
    connections: { connected: () => Promise.resolve(new Set()) },
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
  });
  return { client, ...wrapped };
}

it.each([
  ['by default', {}, ['park']],
  ['not where it is switched off', { idling: { enabled: false } }, []],
])('an idle Service is held %s', (_, settings, ways) => {
  const { base, diverted } = notingBase();
  const { proxy, loops } = wrap(base, settings);
  const metadata = { namespace: 'default', name: 'web', annotations: { [idledAt]: 'now' } };
  proxy.setService(makeService({ metadata }));
  expect([...diverted.values()]).toEqual(ways);
  expect('idle Services' in loops).toBe(ways.length > 0);
});

it('hides a denied endpoint from the holder, so that it does not wake the Service', async () => {
  const { base, slices, diverted, isSynced } = notingBase();
  const recorded: string[] = [];
  const settings = { egressFirewall: { clusterNetworks: ['10.1.0.0/16'] } };
  const { client, proxy, loops } = wrap(base, settings, recorded);
  const stop = new AbortController();
  const { signal } = stop;
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
  const running = loops['egress firewall']?.(signal).catch(() => {});
  for (const name of ['hidden', 'shown']) {
    const metadata = { namespace: 'default', name, annotations: { [idledAt]: 'now' } };
    proxy.setService(makeService({ metadata }));
  }
  proxy.synced();
  await vi.waitFor(() => expect(isSynced()).toBe(true), { timeout: 60_000 });
  expect([...diverted]).toEqual([
    ['default/hidden', 'park'],
    ['default/shown', 'park'],
  ]);
  const setSlice = (service: string, address: string) => {
    const slice = makeSlice({ service, name: service, addresses: [address] });
    proxy.setSlice({ ...slice, metadata: { ...slice.metadata, namespace: 'default' } });
  };
  setSlice('hidden', '203.0.113.1');
  setSlice('shown', '10.1.0.1');
  expect([...slices]).toEqual(['default/shown']);
  expect([...diverted]).toEqual([['default/hidden', 'park']]);
  expect(recorded).toEqual(['EgressDenied']);
  setSlice('hidden', '10.1.0.2');
  expect([...diverted]).toEqual([]);
  stop.abort();
  await running;
});
