import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until } from '../../../../test/octavia/until.ts';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';

let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });

beforeEach(async () => {
  ({ lab, stop } = await openEmbeddedLab());
});

afterEach(() => stop());

async function serve(service: Service, addresses = ['10.10.1.1']): Promise<void> {
  const name = service.metadata?.name ?? '';
  await lab.client.create(services, service);
  await lab.client.create(endpointSlices, newSlice(name, addresses));
  await until(async () => expect(await isReady(name)).toBe(true));
}

async function isReady(name: string): Promise<boolean> {
  const klb = await lab.klb(name);
  return (
    klb?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
    false
  );
}

async function members(): Promise<string[]> {
  const all = await lab.balancers();
  return all.flatMap(({ listeners }) =>
    listeners.flatMap((listener) =>
      listener.members.map(({ address, port }) => `${listener.port}>${address}:${port}`),
    ),
  );
}

test('creates the same objects whether the Service or the endpoints come first, and nothing before both exist', async () => {
  await lab.start();
  await lab.client.create(services, newService('a'));
  await lab.client.create(endpointSlices, newSlice('b', ['10.10.1.1']));
  await until(async () => expect(await lab.klb('a')).toBeDefined());
  await until(async () =>
    expect((await lab.klb('b'))?.spec).toEqual({
      endpointSlices: [expect.objectContaining({ ports: [{ port: 8080, protocol: 'TCP' }] })],
    }),
  );
  expect(await lab.balancers()).toEqual([]);
  await lab.client.create(endpointSlices, newSlice('a', ['10.10.1.1']));
  await lab.client.create(services, newService('b'));
  for (const name of ['a', 'b']) await until(async () => expect(await isReady(name)).toBe(true));
  const plain = async (name: string) => {
    const klb = await lab.klb(name);
    const { endpointSlices: slices, ...rest } = klb?.spec ?? {};
    const text = JSON.stringify([
      slices,
      Object.entries(rest).sort(([left], [right]) => (left < right ? -1 : 1)),
      klb?.metadata?.finalizers,
      Object.keys(klb?.status ?? {}).sort(),
    ]);
    return text.replaceAll(/default\/[ab]|[ab]-pod/g, 'NAME').replaceAll(/"nodePort":\d+/g, '');
  };
  expect(await plain('a')).toBe(await plain('b'));
});

test('drops endpoints whose Service never appears', async () => {
  await lab.start();
  await lab.client.create(endpointSlices, newSlice('ghost', ['10.10.1.1']));
  await until(async () => expect(await lab.klb('ghost')).toBeDefined());
  await lab.client.delete(endpointSlices, named('ghost-1'));
  await until(async () => expect(await lab.klb('ghost')).toBeUndefined());
});

test('members follow the endpoints, and the load balancer stays without endpoints', async () => {
  await lab.start();
  await serve(newService('web'));
  expect(await members()).toEqual(['80>10.10.1.1:8080']);
  const slice = newSlice('web', ['10.10.1.2', '10.10.1.3']);
  await lab.client.update(endpointSlices, slice);
  await until(async () =>
    expect((await members()).sort()).toEqual(['80>10.10.1.2:8080', '80>10.10.1.3:8080']),
  );
  await lab.client.delete(endpointSlices, named('web-1'));
  await until(async () => expect(await members()).toEqual([]));
  expect(await lab.balancers()).toHaveLength(1);
  await until(async () => expect((await lab.klb('web'))?.status?.members).toEqual([]));
});

test('adds and removes ports, with TCP and UDP on one number', async () => {
  await lab.start();
  const ports = [
    { name: 'dns', port: 53, protocol: 'UDP' as const },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' as const },
  ];
  const targets = [
    { name: 'dns', port: 5353, protocol: 'UDP' as const },
    { name: 'dns-tcp', port: 5354, protocol: 'TCP' as const },
  ];
  await lab.client.create(services, newService('dns', { ports }));
  await lab.client.create(endpointSlices, newSlice('dns', ['10.10.1.1'], targets));
  await until(async () => expect(await isReady('dns')).toBe(true));
  const listeners = async () =>
    (await lab.balancers())[0]?.listeners.map(
      (it) => `${it.name} ${it.members.map(({ port }) => port).join()}`,
    );
  expect(await listeners()).toEqual(['default/dns:TCP:53 5354', 'default/dns:UDP:53 5353']);
  const before = (await lab.balancers())[0]?.id;
  await lab.client.patchMerge(services, named('dns'), {
    spec: { ports: [ports[0], { name: 'dns-tcp', port: 54, protocol: 'TCP' }] },
  });
  await until(async () =>
    expect(await listeners()).toEqual(['default/dns:TCP:54 5354', 'default/dns:UDP:53 5353']),
  );
  expect((await lab.balancers())[0]?.id).toBe(before);
  const pools = [];
  for await (const pool of (await lab.balancing()).pools({}, { signal: never }))
    pools.push(pool.name);
  expect(pools.sort()).toEqual(['default/dns:TCP:54', 'default/dns:UDP:53']);
});

test('the type changes both ways', async () => {
  await lab.start({ vip: 'ClusterIP', clusterIP: 'all', subnets: [await lab.serviceSubnet()] });
  await serve(newService('web', { type: 'ClusterIP' }));
  const clusterIp = (await lab.service('web'))?.spec?.clusterIP;
  const [inside] = await lab.balancers();
  expect(inside?.vipAddress).toBe(clusterIp);
  expect(await lab.floatingIps()).toEqual([]);
  await lab.client.patchMerge(services, named('web'), { spec: { type: 'LoadBalancer' } });
  await until(async () => expect(await lab.addressOf('web')).toBeDefined());
  expect((await lab.floatingIps()).map(({ portId }) => portId)).toEqual([inside?.vipPortId]);
  await lab.client.patchMerge(services, named('web'), { spec: { type: 'ClusterIP' } });
  await until(async () => expect(await lab.floatingIps()).toEqual([]));
  expect((await lab.balancers()).map(({ id }) => id)).toEqual([inside?.id]);
  const names = (await lab.balancers()).map(({ name }) => name);
  expect(names).not.toContain('default/kubernetes');
});

test("associates a user's floating IP, and records an Event for a missing one", async () => {
  await lab.start();
  const own = await lab.neutron.floatingIps.create(
    { description: 'mine', floatingNetworkId: lab.publicNetwork },
    { signal: never },
  );
  await serve(newService('web', { loadBalancerIP: own.address }));
  await until(async () => expect(await lab.addressOf('web')).toBe(own.address));
  expect((await lab.klb('web'))?.status?.service_pub_ip_info?.alloc_method).toBe('user');
  await lab.client.patchMerge(services, named('web'), {
    spec: { loadBalancerIP: '203.0.113.250' },
  });
  await until(() =>
    expect(lab.events.join('\n')).toContain('the project has no floating IP 203.0.113.250'),
  );
  // The working one stays while the other is unavailable.
  expect((await lab.floatingIps()).map(({ portId }) => portId)).not.toContain(undefined);
  const other = await lab.neutron.floatingIps.create(
    { description: 'another', floatingNetworkId: lab.publicNetwork },
    { signal: never },
  );
  await lab.client.patchMerge(services, named('web'), { spec: { loadBalancerIP: other.address } });
  await until(async () => expect(await lab.addressOf('web')).toBe(other.address));
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect((await lab.floatingIps()).map(({ portId }) => portId)).toEqual([undefined, undefined]);
});

test('uses nodes with their node ports as members, and follows the nodes', async () => {
  const node = (name: string, address: string) => ({
    metadata: { name, labels: { pool: name } },
    status: {
      addresses: [{ type: 'InternalIP' as const, address }],
      conditions: [{ type: 'Ready', status: 'True' as const }],
    },
  });
  await lab.client.create(nodes, node('n1', '10.10.2.1'));
  await lab.start({ members: 'NodePort' });
  await serve(newService('web'));
  const port = (await lab.service('web'))?.spec?.ports?.[0]?.nodePort;
  expect(await members()).toEqual([`80>10.10.2.1:${port}`]);
  await lab.client.create(nodes, node('n2', '10.10.2.2'));
  await until(async () =>
    expect((await members()).sort()).toEqual([`80>10.10.2.1:${port}`, `80>10.10.2.2:${port}`]),
  );
  await lab.client.patchMerge(services, named('web'), {
    metadata: { annotations: { 'loadbalancer.openstack.org/node-selector': 'pool=n2' } },
  });
  await until(async () => expect(await members()).toEqual([`80>10.10.2.2:${port}`]));
});

test('keeps all nodes as members with an Event when none is ready', async () => {
  const node = (ready: 'True' | 'Unknown') => ({
    metadata: { name: 'n1' },
    status: {
      addresses: [{ type: 'InternalIP' as const, address: '10.10.2.1' }],
      conditions: [{ type: 'Ready', status: ready }],
    },
  });
  await lab.client.create(nodes, node('True'));
  await lab.start({ members: 'NodePort' });
  await serve(newService('web'));
  const port = (await lab.service('web'))?.spec?.ports?.[0]?.nodePort;
  await lab.client.patchMerge(nodes, { name: 'n1' }, node('Unknown'), { subresource: 'status' });
  await until(() => expect(lab.events.join('\n')).toContain('web Warning NoReadyNode'));
  expect(await members()).toEqual([`80>10.10.2.1:${port}`]);
});

test('uses node ports as members of an idle Service until it wakes', async () => {
  await lab.client.create(nodes, {
    metadata: { name: 'n1' },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.10.2.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
  await lab.start();
  await serve(newService('web'));
  const port = (await lab.service('web'))?.spec?.ports?.[0]?.nodePort;
  const idledAt = 'idling.alpha.openshift.io/idled-at';
  await lab.client.patchMerge(services, named('web'), {
    metadata: { annotations: { [idledAt]: '2026-11-15T10:00:00Z' } },
  });
  await lab.client.update(endpointSlices, newSlice('web', []));
  await until(async () => expect(await members()).toEqual([`80>10.10.2.1:${port}`]));
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.9']));
  await until(async () => expect(await members()).toEqual(['80>10.10.1.9:8080']));
});

test('resets a removed timeout to the default, also where both are equal', async () => {
  await lab.start();
  const prefix = 'loadbalancer.openstack.org';
  const asked = {
    [`${prefix}/timeout-client-data`]: '61000',
    [`${prefix}/timeout-member-connect`]: '6000',
    [`${prefix}/timeout-member-data`]: '50000',
  };
  await serve(newService('web', {}, asked));
  const timeouts = async () => (await lab.balancers())[0]?.listeners[0]?.timeouts;
  expect(await timeouts()).toMatchObject({ clientData: 61_000, memberConnect: 6_000 });
  const annotations = Object.fromEntries(Object.keys(asked).map((name) => [name, null]));
  await lab.client.patchMerge(services, named('web'), { metadata: { annotations } });
  await until(async () =>
    expect(await timeouts()).toMatchObject({ clientData: 50_000, memberConnect: 5_000 }),
  );
  await until(async () => {
    const [listener] = (await lab.klb('web'))?.status?.listeners ?? [];
    expect(Object.keys(listener ?? {}).filter((key) => key.startsWith('timeout'))).toEqual([]);
  });
  expect(await isReady('web')).toBe(true);
});

test('removes a header that is no longer requested', async () => {
  await lab.start();
  const prefix = 'loadbalancer.openstack.org';
  const header = `${prefix}/x-forwarded-for`;
  const tls = { [`${prefix}/default-tls-container-ref`]: 'https://barbican/containers/c1' };
  await serve(newService('web', {}, { [header]: 'true', ...tls }));
  const headers = async () => (await lab.balancers())[0]?.listeners[0]?.insertHeaders;
  expect(await headers()).toEqual({ 'X-Forwarded-For': 'true' });
  const change = { metadata: { annotations: { [header]: null } } };
  await lab.client.patchMerge(services, named('web'), change);
  await until(async () => expect(await headers()).toEqual({}));
});
