import { afterEach, expect, test, vi } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { endpointSlices, namespaces, services } from '@causeway/kubernetes/objects/resources';
import type { HealthMonitorRow } from '@causeway/fake-openstack/octavia/rows';

let world: World;
afterEach(() => world.stop());

const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

test.each(['octavia', 'lbaas-v2'] as const)(
  'makes a load balancer of %s a Service',
  async (kind) => {
    world = await startWorld({ loadBalancing: kind });
    const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5', '10.10.0.6');
    const row = world.cloud.octavia.members.all().find(({ address }) => address === '10.10.0.5');
    if (row !== undefined) row.weight = 0;
    expect(await world.once()).toMatchObject({
      projects: 2,
      failed: 0,
      loadBalancers: 1,
      written: 3,
    });
    expect(await world.services()).toMatchObject([
      {
        metadata: { namespace: 'demo', name: `east-web-${id}` },
        spec: { clusterIP: 'None', ports: [{ name: 'http-80', port: 80, appProtocol: 'http' }] },
      },
    ]);
    const [slice] = await world.slices();
    expect(slice?.ports).toMatchObject([{ name: 'http-80', port: 8080, protocol: 'TCP' }]);
    const ready = slice?.endpoints?.map((one) => `${one.addresses[0]} ${one.conditions?.ready}`);
    expect(ready).toEqual(['10.10.0.5 false', '10.10.0.6 true']);
    expect(world.events).toEqual([
      expect.stringContaining(`Discovered Service/demo/east-web-${id}`),
    ]);
    const second = await world.once();
    expect(second).toMatchObject({ written: 0, removed: 0, replicated: 1 });
  },
);

test('converges at once for every type of Service and kind of endpoints', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  // Each combination follows each other one.
  const order = ['CE', 'HE', 'CE', 'CS', 'HS', 'CS', 'HE', 'HS', 'CE', 'HS', 'HE', 'CS', 'CE'];
  for (const step of order) {
    const serviceType = step.startsWith('C') ? 'ClusterIP' : 'Headless';
    const endpointsKind = step.endsWith('E') ? 'Endpoints' : 'EndpointSlice';
    expect(await world.once({ serviceType, endpointsKind })).toMatchObject({ failures: 0 });
    expect(await world.slices()).toHaveLength(endpointsKind === 'EndpointSlice' ? 1 : 0);
    expect(await world.endpoints()).toHaveLength(endpointsKind === 'Endpoints' ? 1 : 0);
    const again = await world.once({ serviceType, endpointsKind });
    expect(again).toMatchObject({ written: 0, removed: 0, held: 0 });
    const [service] = await world.services();
    expect(service?.spec?.clusterIP === 'None').toBe(serviceType === 'Headless');
  }
});

test('makes no ordinary Service of a load balancer without listeners, and does not count it', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const { listeners } = world.cloud.octavia;
  for (const { id } of listeners.all()) listeners.delete(id);
  const ordinary = await world.once({ serviceType: 'ClusterIP' });
  expect(ordinary).toMatchObject({ loadBalancers: 1, replicated: 0 });
  expect(await world.services()).toEqual([]);
  expect(await world.once()).toMatchObject({ loadBalancers: 1, replicated: 1 });
});

test('reports more members than Kubernetes mirrors to slices', async () => {
  world = await startWorld();
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `10.10.${index >> 8}.${index & 255}`);
  world.addLoadBalancer('demo', 'web', ...many(1001));
  expect(await world.once()).toMatchObject({ replicated: 1 });
  const recorded = () => world.events.filter((event) => event.includes('EndpointsNotMirrored'));
  expect(recorded()).toEqual([]);
  expect(await world.once({ endpointsKind: 'Endpoints' })).toMatchObject({ replicated: 1 });
  expect(recorded()).toEqual([expect.stringContaining('Warning')]);
});

test('shows an administrator each load balancer in its own project only', async () => {
  world = await startWorld();
  const { directory } = world.cloud.keystone;
  const demo = directory.findUser('default', 'demo');
  directory.grant(demo?.id ?? '', world.projectId('demo'), 'admin');
  directory.grant(demo?.id ?? '', world.projectId('alt'), 'admin');
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  expect(await world.once()).toMatchObject({ loadBalancers: 2 });
  const places = (await world.services()).map(({ metadata }) => metadata?.namespace ?? '');
  expect(places.sort()).toEqual(['alt', 'demo']);
});

test('changes only its own objects', async () => {
  world = await startWorld();
  const { client } = world;
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.once();
  const name = `east-web-${id}`;
  const at = { namespace: 'demo', name };
  const before = await client.get(services, at);
  await client.patchMerge(services, at, {
    metadata: { labels: { 'causeway.dev/backend': null, 'causeway.dev/x': 'y', team: 'blue' } },
    spec: { selector: { app: 'mine' }, ports: [{ port: 99, name: 'theirs' }] },
  });
  const [slice] = await world.slices();
  const sliceAt = { namespace: 'demo', name: slice?.metadata?.name ?? '' };
  await client.patchMerge(endpointSlices, sliceAt, {
    endpoints: [{ addresses: ['192.0.2.66'] }],
  });
  const copy = { namespace: 'demo', name: 'copy' };
  await client.create(services, {
    metadata: { ...before.metadata, ...copy, uid: '', resourceVersion: '' },
    spec: { ports: [{ port: 1 }] },
  });
  await world.once();
  const mended = await client.get(services, at);
  expect(mended.spec).toEqual(before.spec);
  expect(mended.metadata?.labels).toEqual({ ...before.metadata?.labels, team: 'blue' });
  const [again] = await world.slices();
  expect(again?.endpoints).toEqual(slice?.endpoints);
  expect(await client.find(services, copy)).toBeDefined();
});

test('leaves a name to its foreign owner, and records an Event', async () => {
  world = await startWorld();
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.client.create(namespaces, { metadata: { name: 'demo' } });
  const theirs = {
    metadata: { namespace: 'demo', name: `east-web-${id}` },
    spec: { ports: [{ port: 1 }] },
  };
  await world.client.create(services, theirs);
  expect(await world.once()).toMatchObject({ invalid: 1, replicated: 0 });
  expect((await world.services()).map(({ spec }) => spec?.ports?.[0]?.port)).toEqual([1]);
  expect(await world.slices()).toEqual([]);
  expect(world.events).toEqual([
    expect.stringContaining('Warning NameTaken Service/demo/east-web'),
  ]);
});

test('creates namespaces with its label, or leaves their projects out', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  expect(await world.once({ createNamespaces: false })).toMatchObject({ skipped: 1, written: 0 });
  expect(world.events).toEqual([
    expect.stringContaining('Warning NamespaceMissing Namespace//demo'),
  ]);
  await world.once();
  const { metadata } = await world.client.get(namespaces, { name: 'demo' });
  expect(metadata?.labels?.['app.kubernetes.io/managed-by']).toBe('causeway-discovery');
});

test('selects projects, and builds namespaces from a template', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  const settings = { projects: ['alt', 'demo'], ignoreProjects: [world.projectId('demo')] };
  await world.once({ ...settings, namespaceTemplate: '{backend}-{project}' });
  expect((await world.services()).map(({ metadata }) => metadata?.namespace)).toEqual(['east-alt']);
});

test('moves a renamed project to its new namespace', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const running = world.start();
  await until(async () => expect(await world.slices()).toHaveLength(1));
  const { projects } = world.cloud.keystone.directory;
  const row = projects.get(world.projectId('demo'));
  if (row !== undefined) projects.update(row, { name: 'Shop & Co' });
  await until(async () => {
    const [service, ...others] = await world.services();
    expect(others).toEqual([]);
    expect(service?.metadata?.namespace).toMatch(/^shop-co-[0-9a-f]{10}$/);
    expect(service?.metadata?.annotations?.['causeway.dev/project-name']).toBe('Shop & Co');
  });
  await running.stop();
});

test('marks a member as not ready until it passes its checks again', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5', '10.10.0.6');
  const [pool] = world.cloud.octavia.pools.all();
  const row: HealthMonitorRow = {
    id: 'm1',
    name: '',
    project_id: world.projectId('demo'),
    admin_state_up: true,
    tags: [],
    created_at: '',
    updated_at: null,
    pool_id: pool?.id ?? '',
    type: 'TCP',
    delay: 1,
    timeout: 1,
    max_retries: 1,
    max_retries_down: 1,
    http_method: null,
    url_path: null,
    expected_codes: null,
    http_version: null,
    domain_name: null,
    provisioning_status: 'ACTIVE',
    operating_status: 'ONLINE',
  };
  world.cloud.octavia.healthMonitors.insert(row);
  const ready = async () => {
    await world.once();
    const [slice] = await world.slices();
    return slice?.endpoints?.map(({ conditions }) => conditions?.ready);
  };
  world.cloud.setMemberDown('10.10.0.5:8080');
  expect(await ready()).toEqual([false, true]);
  world.cloud.setMemberDown('10.10.0.5:8080', false);
  expect(await ready()).toEqual([true, true]);
});

test.each([
  ['a role', 'services is forbidden: User "x" cannot create resource "services"'],
  ['a quota', 'services "web" is forbidden: exceeded quota: objects'],
  ['a webhook', 'admission webhook "policy.example" denied the request: no'],
])('reports an object that Kubernetes refuses because of %s', async (_, message) => {
  world = await startWorld({}, ({ method, resource }) =>
    method === 'POST' && resource?.plural === 'services'
      ? { kind: 'refuse', reason: 'Forbidden', message }
      : undefined,
  );
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  expect(await world.once()).toMatchObject({ refused: 1, failures: 0 });
  const recorded = world.events.filter((event) => event.includes('RefusedByKubernetes'));
  expect(recorded).toEqual([expect.stringContaining(message)]);
});

test.each([
  ['Forbidden', /^forbidden$/, 600_000],
  ['Unauthorized', /^unauthorized$/, 600_000],
  // On a slow machine the time is over before the first answer.
  ['ServiceUnavailable', /^(unavailable|timeout)$/, 1_000],
] as const)('ends a single cycle if the cluster answers %s', async (reason, code, syncMs) => {
  world = await startWorld({}, ({ resource }) =>
    resource?.plural === 'services' ? { kind: 'refuse', reason } : undefined,
  );
  const once = world.discoverer().once(false, AbortSignal.timeout(300_000), syncMs);
  await expect(once).rejects.toMatchObject({ code: expect.stringMatching(code) });
});
