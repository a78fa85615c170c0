import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareKubernetes } from '../../services/kubernetes.ts';
import { isAvailable } from '../../services/missing.ts';
import { service } from '../kubernetes-api/scenarios/scenario.ts';
import { essence, LiveCluster, type LiveObject, type Workspace } from './live-cluster.ts';

const withManager = () => prepareKubernetes({ controllerManager: true });

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: Readonly<Record<string, boolean>>;
}

const endpointsOf = (slices: readonly LiveObject[]) =>
  slices.flatMap((slice) => (slice['endpoints'] ?? []) as Endpoint[]);
const readyAddresses = (slices: readonly LiveObject[]) =>
  endpointsOf(slices)
    .filter(({ conditions }) => conditions['ready'] === true)
    .flatMap(({ addresses }) => addresses)
    .sort();

async function pod(
  space: Workspace,
  name: string,
  address: string | readonly string[],
  change: { ports?: object[]; spec?: object; isReady?: boolean; app?: string } = {},
): Promise<LiveObject> {
  const {
    ports = [{ name: 'http', containerPort: 8080 }],
    spec = {},
    isReady = true,
    app = 'web',
  } = change;
  const made = await space.create('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app } },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'x', ports }], ...spec },
  });
  await space.report(made, isReady, address);
  return made;
}

const worlds: Record<string, Record<string, unknown>> = {};

describe.runIf(await isAvailable(withManager)).each([
  ['embedded', () => LiveCluster.embedded()],
  ['real', () => LiveCluster.real()],
] as const)('endpoints on the %s cluster', (label, start) => {
  let cluster: LiveCluster;
  const record = (what: string, value: unknown) => {
    worlds[label] = { ...worlds[label], [what]: essence(value) };
  };

  beforeAll(async () => {
    cluster = await start();
    const metadata = { name: 'node-1', labels: { 'topology.kubernetes.io/zone': 'zone-a' } };
    const body = { apiVersion: 'v1', kind: 'Node', metadata };
    await cluster.server.call('POST', '/api/v1/nodes', { body });
  });

  afterAll(async () => {
    await cluster.server.stop();
  });

  test('follow readiness and leave with their pods', async () => {
    const space = await cluster.workspace('readiness');
    await space.create(
      'services',
      service(
        'web',
        {
          selector: { app: 'web' },
          ports: [
            { name: 'http', port: 80, targetPort: 'http' },
            { name: 'plain', port: 81, targetPort: 8081 },
          ],
        },
        { labels: { team: 'a' } },
      ),
    );
    record(
      'a slice without endpoints',
      await space.until('an empty slice', 'endpointslices', (all) => all.length === 1),
    );
    const first = await pod(space, 'one', '10.244.0.1', { spec: { nodeName: 'node-1' } });
    await pod(space, 'two', '10.244.0.2', { isReady: false });
    await pod(space, 'other', '10.244.0.3', { app: 'other' });
    const slices = await space.until(
      'two endpoints',
      'endpointslices',
      (all) => endpointsOf(all).length === 2 && readyAddresses(all).length === 1,
    );
    record('a slice', byAddress(slices));
    record(
      'the older form',
      await space.until('both addresses', 'endpoints', ([one]) =>
        JSON.stringify(one?.['subsets'] ?? '').includes('notReadyAddresses'),
      ),
    );
    await space.delete('pods', first.metadata.name);
    const leaving = await space.until('the pod to be leaving', 'endpointslices', (all) =>
      endpointsOf(all).some(({ conditions }) => conditions['terminating'] === true),
    );
    record('a slice with a pod that leaves', byAddress(leaving));
    await space.delete('pods', first.metadata.name, { gracePeriodSeconds: 0 });
    await space.until('it to be gone', 'endpointslices', (all) => endpointsOf(all).length === 1);
    await space.patch('services', 'web', { metadata: { labels: { team: 'b' } } });
    await space.until(
      'the label to follow',
      'endpointslices',
      (all) => all[0]?.metadata.labels?.['team'] === 'b',
    );
    await space.patch('services', 'web', { spec: { selector: { app: 'other' } } });
    await space.until(
      'the other pod',
      'endpointslices',
      (all) => readyAddresses(all).join() === '10.244.0.3',
    );
    await space.delete('services', 'web');
    await space.until('nothing to be left', 'endpointslices', (all) => all.length === 0);
    await space.until('nothing to be left', 'endpoints', (all) => all.length === 0);
  });

  test('are grouped by the ports that pods serve', async () => {
    const space = await cluster.workspace('ports');
    await space.create(
      'services',
      service('web', { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] }),
    );
    await pod(space, 'a', '10.244.1.1', { ports: [{ name: 'http', containerPort: 8080 }] });
    await pod(space, 'b', '10.244.1.2', { ports: [{ name: 'http', containerPort: 9090 }] });
    await pod(space, 'c', '10.244.1.3', { ports: [{ name: 'other', containerPort: 9090 }] });
    const slices = await space.until(
      'three groups',
      'endpointslices',
      (all) => endpointsOf(all).length === 3,
    );
    record(
      'slices of different ports',
      slices
        .map(({ ports, endpoints }) => ({ ports, endpoints }))
        .sort((a, b) => (JSON.stringify(a.ports) < JSON.stringify(b.ports) ? -1 : 1)),
    );
  });

  test('have both families if the Service has', async () => {
    const space = await cluster.workspace('families');
    await space.create(
      'services',
      service('web', {
        selector: { app: 'web' },
        ipFamilyPolicy: 'RequireDualStack',
        ports: [{ port: 80 }],
      }),
    );
    await pod(space, 'a', ['10.244.2.1', 'fd00:244::1']);
    const slices = await space.until(
      'both families',
      'endpointslices',
      (all) => readyAddresses(all).length === 2,
    );
    record(
      'slices of two families',
      slices
        .map(({ addressType, endpoints, ports }) => ({ addressType, endpoints, ports }))
        .sort((a, b) => (String(a.addressType) < String(b.addressType) ? -1 : 1)),
    );
  });

  test('of headless Services name their hosts, and may include pods that are not ready', async () => {
    const space = await cluster.workspace('headless');
    await space.create(
      'services',
      service('db', {
        selector: { app: 'web' },
        clusterIP: 'None',
        publishNotReadyAddresses: true,
        ports: [{ port: 80 }],
      }),
    );
    await pod(space, 'a', '10.244.3.1', {
      spec: { hostname: 'a', subdomain: 'db' },
      isReady: false,
    });
    const slices = await space.until(
      'the endpoint',
      'endpointslices',
      (all) => endpointsOf(all).length === 1,
    );
    record('a headless slice', slices);
    record(
      'a headless older form',
      await space.until('the address', 'endpoints', ([one]) => one?.['subsets'] !== undefined),
    );
  });

  test('that are set manually are mirrored to slices, and deleted with their Service', async () => {
    const space = await cluster.workspace('mirrored');
    await space.create('services', service('web', { ports: [{ name: 'http', port: 80 }] }));
    await space.create('endpoints', {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name: 'web', labels: { team: 'a' }, annotations: { note: 'b' } },
      subsets: [
        {
          addresses: [{ ip: '10.9.0.1', hostname: 'h' }, { ip: 'fd00::9' }],
          notReadyAddresses: [{ ip: '10.9.0.2' }],
          ports: [{ name: 'http', port: 8080 }],
        },
      ],
    });
    const slices = await space.until('both families', 'endpointslices', (all) => all.length === 2);
    record(
      'mirrored slices',
      slices.sort((a, b) => (String(a['addressType']) < String(b['addressType']) ? -1 : 1)),
    );
    await space.patch('endpoints', 'web', {
      subsets: [{ addresses: [{ ip: '10.9.0.3' }], ports: [{ name: 'http', port: 8080 }] }],
    });
    await space.until(
      'the change',
      'endpointslices',
      (all) => all.length === 1 && readyAddresses(all).join() === '10.9.0.3',
    );
    await space.delete('services', 'web');
    await space.until('nothing to be left', 'endpoints', (all) => all.length === 0);
    await space.until('nothing to be left', 'endpointslices', (all) => all.length === 0);
  });

  test('fill slices of a hundred', async () => {
    const space = await cluster.workspace('many');
    await space.create(
      'services',
      service('web', { selector: { app: 'web' }, ports: [{ port: 80 }] }),
    );
    await Promise.all(
      Array.from({ length: 130 }, (_, index) => pod(space, `p-${index}`, `10.244.4.${index + 1}`)),
    );
    const slices = await space.until(
      '130 endpoints',
      'endpointslices',
      (all) => readyAddresses(all).length === 130,
    );
    expect(slices.length).toBeGreaterThanOrEqual(2);
    expect(Math.max(...slices.map((slice) => endpointsOf([slice]).length))).toBeLessThanOrEqual(
      100,
    );
    expect(new Set(readyAddresses(slices)).size).toBe(130);
  });
});

function byAddress(slices: readonly LiveObject[]): unknown {
  return slices.map((slice) => ({
    ...slice,
    endpoints: [...endpointsOf([slice])].sort((a, b) =>
      (a.addresses[0] ?? '') < (b.addresses[0] ?? '') ? -1 : 1,
    ),
  }));
}

test.runIf(await isAvailable(withManager))('both clusters have the same result', () => {
  for (const [what, expected] of Object.entries(worlds['real'] ?? {})) {
    expect.soft({ [what]: worlds['embedded']?.[what] }).toEqual({ [what]: expected });
  }
});
