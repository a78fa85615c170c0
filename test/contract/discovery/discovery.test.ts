import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CycleReport } from '../../../packages/causeway/src/discovery/cycle-report.ts';
import { Discoverer } from '../../../packages/causeway/src/discovery/discoverer.ts';
import { discoverySettings } from '../../../packages/causeway/src/discovery/settings.ts';
import { parseAddress } from '../../../packages/base/src/address/address.ts';
import { parsePort } from '../../../packages/base/src/address/port.ts';
import type { KubeClient } from '../../../packages/kubernetes/src/client/client.ts';
import {
  endpoints,
  endpointSlices,
  services,
} from '../../../packages/kubernetes/src/objects/resources.ts';
import { collect } from '../../../packages/openstack/src/collect.ts';
import { openLoadBalancing } from '../../../packages/openstack/src/load-balancing/open.ts';
import { whenUnlocked } from '../../../packages/openstack/src/load-balancing/lock.ts';
import type { LoadBalancerSpec } from '../../../packages/openstack/src/load-balancing/specs.ts';
import { Neutron } from '../../../packages/openstack/src/neutron/neutron.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { clientFor, clusters, connectionTo, type Cluster } from '../kube-client/cluster.ts';
import { anyName } from '../../discovery/any-cloud.ts';
import { loadBalancer } from '../../discovery/embedded-world.ts';
import { startEmbeddedOpenStack } from '../../../packages/fake-openstack/src/cloud.ts';
import { describeEveryCloud, mitaka, TestCloud, uniqueName } from '../openstack/clouds.ts';

const call = { signal: new AbortController().signal };

// The real kube-apiserver if available: the embedded one is covered by the unit tests.
let cluster: Cluster;
let client: KubeClient;
beforeAll(async () => {
  const last = clusters.at(-1);
  if (last === undefined) throw new Error('no cluster');
  cluster = await last.start();
  client = clientFor(await connectionTo(cluster));
});
afterAll(async () => {
  await client.close();
  await cluster.stop();
});

async function cycle(
  cloud: TestCloud,
  settings: { readonly backendName: string; readonly [name: string]: unknown },
  isConfirmed = false,
): Promise<CycleReport> {
  const { auth_url, username, password, user_domain_name, region_name } = cloud.settings('demo');
  const variables = { auth_url, username, password, user_domain_name, region_name };
  const discoverer = new Discoverer(discoverySettings.parse({ projects: ['demo'], ...settings }), {
    client,
    recordEvent: () => true,
    environment: Object.fromEntries(
      Object.entries(variables).map(([key, value]) => [`OS_${key.toUpperCase()}`, value]),
    ),
    workingDirectory: cluster.kubeconfig,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
  });
  const [result] = await discoverer.once(isConfirmed, AbortSignal.timeout(300_000));
  if (result?.report === undefined) throw result?.error ?? new Error('no result');
  return result.report;
}

async function makeLoadBalancer(cloud: TestCloud, name: string) {
  const session = cloud.open('demo', {}, cloud.pauses).session();
  const [subnet] = await collect(new Neutron(session).subnets.list({ name: 'private-v4' }, call));
  const balancing = await openLoadBalancing(session, call);
  const { waiter } = balancing;
  const hasUdp = balancing.kind === 'octavia';
  const listeners = [tcpListener(), ...(hasUdp ? [udpListener()] : [])];
  const spec = { name, vipSubnetId: subnet?.id ?? '', listeners };
  const { id } = await balancing.createLoadBalancer(spec, { ...call, once: 'name' });
  await waiter.active(id, call);
  const remove = async () => {
    const write = () => balancing.deleteLoadBalancer(id, { ...call, cascade: true });
    await whenUnlocked(waiter, id, write, call);
    await waiter.gone(id, call);
  };
  return { id, hasUdp, remove };
}

type ListenerTree = NonNullable<LoadBalancerSpec['listeners']>[number];

const member = (address: string, port: number, extra: object = {}) => ({
  address: parseAddress(address),
  port: parsePort(port),
  ...extra,
});

const tcpListener = (): ListenerTree => ({
  name: 'DNS über TCP',
  protocol: 'TCP',
  port: parsePort(53),
  defaultPool: {
    name: 'tcp',
    protocol: 'TCP',
    algorithm: 'ROUND_ROBIN',
    members: [
      member('10.10.8.1', 5353),
      member('10.10.8.2', 5353, { weight: 0 }),
      member('10.10.8.3', 5354, { adminStateUp: false }),
    ],
  },
});

const udpListener = (): ListenerTree => ({
  name: 'DNS',
  protocol: 'UDP',
  port: parsePort(53),
  defaultPool: {
    name: 'udp',
    protocol: 'UDP',
    algorithm: 'ROUND_ROBIN',
    members: [member('10.10.8.1', 5353)],
  },
});

async function slicesOf(backend: string): Promise<string[]> {
  const labelSelector = `causeway.dev/backend=${backend}`;
  const all = await collect(client.list(endpointSlices, { labelSelector }));
  return all
    .flatMap(({ ports, endpoints: own }) =>
      (own ?? []).map(({ addresses, conditions }) => {
        const [port] = ports ?? [];
        return `${port?.name}/${port?.protocol} ${addresses[0]}:${port?.port} ${conditions?.ready}`;
      }),
    )
    .sort();
}

it('objects with any names are accepted by the API server, and a second cycle writes nothing', async () => {
  const embedded = await startEmbeddedOpenStack({ provisioningDelayMs: 0 });
  const { directory } = embedded.keystone;
  const user = directory.findUser('default', 'demo');
  const names = new Set(fc.sample(anyName, { numRuns: 60, seed: 8 }));
  for (const name of names) {
    const project = directory.addProject('default', name);
    directory.grant(user?.id ?? '', project.id, 'member', 'load-balancer_member');
    const spec = loadBalancer(embedded, name, ['10.10.8.1', '127.0.0.1', '2001:db8::1']);
    const [listener] = spec.listeners;
    embedded.addLoadBalancer(project.id, { ...spec, listeners: [{ ...listener, name }] });
  }
  const cloud = new TestCloud({ ...embedded, holdProvisioning: () => () => undefined });
  const settings = { backendName: 'odd', projects: [], ignoreProjects: ['demo', 'alt'] };
  const all = { loadBalancers: names.size, replicated: names.size };
  // One member of each is rejected, with an Event; the others are endpoints.
  const frontendCounts = { replicated: 2 * names.size, invalid: names.size };
  expect(await cycle(cloud, settings)).toMatchObject({
    ...all,
    failures: 0,
    failed: 0,
    endpoints: frontendCounts,
  });
  expect(await cycle(cloud, settings)).toMatchObject({ ...all, written: 0, removed: 0 });
  await cloud.stop();
});

let backends = 0;

await describeEveryCloud(
  'Discovery',
  {},
  (cloud) => {
    it('creates Services that the API server accepts, changes nothing twice, and never deletes when in doubt', async () => {
      backends += 1;
      const backendName = `cloud-${backends}`;
      const name = uniqueName('Großer Name');
      const { id, hasUdp, remove } = await makeLoadBalancer(cloud(), name);
      const types = [{ serviceType: 'ClusterIP' }, { serviceType: 'Headless' }];
      for (const type of types) {
        const settings = { backendName, ...type };
        expect(await cycle(cloud(), settings)).toMatchObject({
          failed: 0,
          failures: 0,
          invalid: 0,
        });
        expect(await cycle(cloud(), settings)).toMatchObject({ written: 0, removed: 0, held: 0 });
        const labelSelector = `causeway.dev/load-balancer-id=${id},causeway.dev/backend=${backendName}`;
        const [service, ...others] = await collect(client.list(services, { labelSelector }));
        expect(others).toEqual([]);
        expect(service?.metadata?.namespace).toBe('demo');
        expect(service?.metadata?.annotations?.['causeway.dev/load-balancer-name']).toBe(name);
        expect(service?.spec?.clusterIP === 'None').toBe(type.serviceType === 'Headless');
        expect(service?.spec?.ports?.map((port) => port.name)).toEqual(
          hasUdp ? ['dns-uber-tcp-53', 'dns-53-udp'] : ['dns-uber-tcp-53'],
        );
        expect(await slicesOf(backendName)).toEqual([
          ...(hasUdp ? ['dns-53-udp/UDP 10.10.8.1:5353 true'] : []),
          'dns-uber-tcp-53/TCP 10.10.8.1:5353 true',
          'dns-uber-tcp-53/TCP 10.10.8.2:5353 false',
          'dns-uber-tcp-53/TCP 10.10.8.3:5354 false',
        ]);
      }
      const older = { backendName, endpointsKind: 'Endpoints' };
      const labelSelector = `causeway.dev/backend=${backendName}`;
      // The API server deletes Endpoints with their Service, and a change of the type recreates it.
      for (const serviceType of ['Headless', 'ClusterIP', 'Headless']) {
        const settings = { ...older, serviceType };
        expect(await cycle(cloud(), settings)).toMatchObject({ failures: 0, held: 0 });
        expect(await collect(client.list(endpoints, { labelSelector }))).toHaveLength(1);
        expect(await slicesOf(backendName)).toEqual([]);
        expect(await cycle(cloud(), settings)).toMatchObject({ written: 0, removed: 0, held: 0 });
      }
      await cycle(cloud(), { backendName, serviceType: 'ClusterIP' });
      expect(await slicesOf(backendName)).toHaveLength(hasUdp ? 4 : 3);
      expect(await collect(client.list(endpoints, { labelSelector }))).toEqual([]);
      await cycle(cloud(), older);
      expect(await collect(client.list(endpoints, { labelSelector }))).toHaveLength(1);
      expect(await slicesOf(backendName)).toEqual([]);

      await remove();
      expect(await cycle(cloud(), older)).toMatchObject({ held: 1, removed: 0 });
      // The API server deletes the Endpoints with their Service; objects that did not exist are not counted.
      expect(await cycle(cloud(), older, true)).toMatchObject({ held: 0, removed: 1 });
      expect(await collect(client.list(services, { labelSelector }))).toEqual([]);
      expect(await collect(client.list(endpoints, { labelSelector }))).toEqual([]);
    });
  },
  [mitaka],
);
