import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import { installCustomResources } from '../../../packages/kubernetes/src/objects/custom-resources.ts';
import { EventRecorder } from '../../../packages/kubernetes/src/events/event-recorder.ts';
import { events } from '../../../packages/kubernetes/src/objects/resources.ts';
import { MemoryDriver } from '../../../packages/nftables/src/drivers/memory-driver.ts';
import { buildProxy } from '../../../packages/causeway/src/node-proxy/build-proxy.ts';
import {
  egressNetworkPolicies,
  egressNetworkPolicyDefinition,
} from '../../../packages/causeway/src/node-proxy/egress-firewall/egress-network-policy.ts';
import { nodeContext } from '../../../packages/causeway/src/node-proxy/node-context.ts';
import { ProxyStore } from '../../../packages/causeway/src/node-proxy/proxy-store.ts';
import { proxySettings } from '../../../packages/causeway/src/node-proxy/settings.ts';
import {
  makeService,
  makeSlice,
} from '../../../packages/causeway/src/node-proxy/testing/objects.ts';
import { StoreWriter } from '../../../packages/causeway/src/node-proxy/testing/store-writer.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { supervise } from '../../../packages/base/src/work/supervisor.ts';
import { waitFor } from '../../services/wait-for.ts';
import { clientFor, clusters, connectionTo, type Cluster } from '../kube-client/cluster.ts';
import { eventType } from '../../../packages/causeway/src/cli/event-definitions.ts';

const setting = { clock: systemClock, log: discardLog, metrics: noMetrics };

describe.each(clusters)('EgressNetworkPolicies on $name', ({ start }) => {
  let cluster: Cluster;
  let client: KubeClient;
  beforeAll(async () => {
    cluster = await start();
    client = clientFor(await connectionTo(cluster));
    const { signal } = new AbortController();
    const options = { clock: systemClock, signal, fieldManager: 'test' };
    await installCustomResources(client, [egressNetworkPolicyDefinition], options);
  });
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  const create = (name: string, egress: object[]) =>
    client.create(egressNetworkPolicies, {
      metadata: { namespace: 'default', name },
      spec: { egress },
    });

  it.each([
    [
      'networks of both families and names',
      { type: 'Deny', to: { cidrSelector: '0.0.0.0/0' } },
      true,
    ],
    ['an IPv6 network', { type: 'Allow', to: { cidrSelector: '2001:db8::/32' } }, true],
    ['a name', { type: 'Allow', to: { dnsName: 'api.example.com' } }, true],
    ['another type', { type: 'Maybe', to: { cidrSelector: '0.0.0.0/0' } }, false],
    ['no network', { type: 'Deny', to: { cidrSelector: '10.0.0.1' } }, false],
    ['both', { type: 'Deny', to: { cidrSelector: '10.0.0.0/8', dnsName: 'x.example' } }, false],
    ['neither', { type: 'Deny', to: {} }, false],
    ['no name', { type: 'Deny', to: { dnsName: 'not a name' } }, false],
  ])('%s: accepted is %s', async (_, rule, isAccepted) => {
    const made = create('check', [rule]);
    if (!isAccepted) {
      await expect(made).rejects.toMatchObject({ code: 'invalid' });
      return;
    }
    await made;
    await client.delete(egressNetworkPolicies, { namespace: 'default', name: 'check' });
  });

  it('hide slices while they exist, and record Events on the owners', async () => {
    const recorder = new EventRecorder({
      ...setting,
      client,
      component: 'test',
      instance: 'test',
      eventType,
    });
    const parsed = proxySettings.parse({
      egressFirewall: { clusterNetworks: ['10.1.0.0/16'] },
      idling: { enabled: false },
    });
    const settings = { ...parsed, nodeName: 'node1' };
    const store = new ProxyStore({ ...setting, node: nodeContext(settings, undefined, []) });
    const { pipeline, loops } = buildProxy(
      {
        ...setting,
        settings,
        client,
        recorder,
        driver: new MemoryDriver('causeway-proxy'),
        canAccept: false,
        connections: {
          deleteConnections: () => Promise.resolve(0),
          deleteStaleEntries: () => Promise.resolve(0),
          connected: () => Promise.resolve(new Set()),
        },
      },
      store,
    );
    let shown: readonly string[] | undefined;
    pipeline.onCommit((served) => {
      const targets = served.flatMap((one) => (one.service === 'default/web' ? one.targets : []));
      shown = targets.flatMap(({ virtual: { dispatch } }) =>
        dispatch.kind === 'slots' ? dispatch.backends.map((endpoint) => endpoint.address) : [],
      );
    });
    const stop = new AbortController();
    const running = supervise(stop.signal, {
      ...loops,
      events: (signal) => recorder.run(signal),
    });
    const slice = makeSlice({ addresses: ['203.0.113.1'] });
    const own = { ...slice, metadata: { ...slice.metadata, namespace: 'default' } };
    const objects = new StoreWriter(store);
    objects.setService(makeService({ metadata: { namespace: 'default', name: 'web' } }));
    objects.setSlice(own);
    objects.synced();
    await waitFor('the policies to be known', () => shown !== undefined);
    expect(shown).toEqual(['203.0.113.1']);
    await create('deny', [{ type: 'Deny', to: { cidrSelector: '203.0.113.0/24' } }]);
    await waitFor('the slice to be hidden', () => shown?.length === 0);
    await waitFor('an Event', async () => {
      for await (const event of client.list(events, { namespace: 'default' })) {
        if (event.reason === 'EgressDenied') return event.message?.includes('203.0.113.1');
      }
      return false;
    });
    await client.delete(egressNetworkPolicies, { namespace: 'default', name: 'deny' });
    await waitFor('it to be shown again', () => shown?.length === 1);
    stop.abort();
    await running;
  });
});
