import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { manyRanges } from '@causeway/kubernetes/objects/large-service.testing';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

// The provider ovn, which lacks many features of amphora.

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;

beforeEach(async () => {
  const providers = new Map([
    ['amphora', ''],
    ['ovn', ''],
  ]);
  ({ cloud, lab, stop } = await openEmbeddedLab({ offerings: { providers } }));
});

afterEach(() => stop());

const prefix = 'loadbalancer.openstack.org';
const refusals = () =>
  lab.events.filter((event) => event.includes('OptionUnsupported')).map((event) => event.trim());

test('serves TCP, UDP and SCTP, on one port too, by SOURCE_IP_PORT', async () => {
  await lab.start({ provider: 'ovn' });
  const ports = [
    { name: 'a', port: 53, protocol: 'TCP' },
    { name: 'b', port: 53, protocol: 'UDP' },
    { name: 'c', port: 54, protocol: 'SCTP' },
  ] as const;
  await lab.client.create(services, newService('dns', { ports }));
  await lab.client.create(endpointSlices, newSlice('dns', ['10.10.1.1'], ports));
  await untilServed(lab, 'dns');
  const [balancer] = await lab.balancers();
  expect(balancer?.listeners.map(({ protocol, port }) => `${protocol} ${port}`).sort()).toEqual([
    'SCTP 54',
    'TCP 53',
    'UDP 53',
  ]);
  const algorithms = cloud.octavia.pools.all().map((pool) => pool.lb_algorithm);
  expect(new Set(algorithms)).toEqual(new Set(['SOURCE_IP_PORT']));
});

test('skips unsupported options with an Event, and serves the rest', async () => {
  // Nodes with the policy Local are checked by HTTP.
  await lab.client.create(nodes, {
    metadata: { name: 'n1' },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.10.2.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
  await lab.start({ provider: 'ovn', members: 'NodePort' });
  const annotations = {
    [`${prefix}/lb-method`]: 'ROUND_ROBIN',
    [`${prefix}/flavor-id`]: 'some-flavor',
    [`${prefix}/availability-zone`]: 'zone-a',
    [`${prefix}/x-forwarded-for`]: 'true',
    [`${prefix}/timeout-client-data`]: '1000',
    [`${prefix}/enable-health-monitor`]: 'true',
  };
  const change = { externalTrafficPolicy: 'Local', sessionAffinity: 'ClientIP' } as const;
  await lab.client.create(services, newService('web', change, annotations));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await untilServed(lab, 'web');
  expect(await lab.balancers()).toMatchObject([{ provider: 'ovn', listeners: [{ port: 80 }] }]);
  expect(cloud.octavia.healthMonitors.all()).toMatchObject([{ type: 'TCP' }]);
  expect(cloud.octavia.members.all()).toMatchObject([{ monitor_port: null }]);
  const events = refusals().join('\n');
  for (const what of ['flavors', 'zones', 'ROUND_ROBIN', 'X-Forwarded-For', 'timeouts', 'HTTP']) {
    expect(events).toContain(what);
  }
});

test('serves SCTP without a monitor where there is none for SCTP', async () => {
  await lab.start({ provider: 'ovn' });
  const ports = [{ name: 'a', port: 54, protocol: 'SCTP' }] as const;
  const annotations = { [`${prefix}/enable-health-monitor`]: 'true' };
  await lab.client.create(services, newService('sctp', { ports }, annotations));
  await lab.client.create(endpointSlices, newSlice('sctp', ['10.10.1.1'], ports));
  await untilServed(lab, 'sctp');
  expect(cloud.octavia.healthMonitors.all()).toEqual([]);
  expect(refusals().join()).toContain('health monitors by SCTP');
});

test('refuses a Service with unsupported source ranges', async () => {
  await lab.start({ provider: 'ovn' });
  await lab.client.create(
    services,
    newService('web', { loadBalancerSourceRanges: ['192.0.2.0/24'] }),
  );
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(() => expect(lab.events.join()).toContain('SourceRangesUnsupported'));
  expect(await lab.balancers()).toEqual([]);
});

test('removes the listeners when source ranges are added, and restores them without ranges', async () => {
  await lab.start({ provider: 'ovn' });
  await lab.client.create(services, newService('web'));
  await lab.client.create(services, newService('other'));
  for (const name of ['web', 'other']) {
    await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
    await untilServed(lab, name);
  }
  const portsOf = async (name: string) => {
    const found = (await lab.balancers()).find((balancer) => balancer.name === `default/${name}`);
    return found?.listeners.map(({ port }) => port);
  };
  const where = { namespace: 'default', name: 'web' };
  const restrict = (ranges: readonly string[] | null) =>
    lab.client.patchMerge(services, where, { spec: { loadBalancerSourceRanges: ranges } });
  const address = await lab.addressOf('web');
  await restrict(['192.0.2.0/24']);
  await until(() => expect(lab.events.join()).toContain('SourceRangesUnsupported'));
  await until(async () => expect(await portsOf('web')).toEqual([]));
  await until(() => expect(cloud.octavia.pools.all()).toHaveLength(1));
  expect(await portsOf('other')).toEqual([80]);
  await restrict(null);
  await until(async () => expect(await portsOf('web')).toEqual([80]));
  await untilServed(lab, 'web');
  expect(await lab.addressOf('web')).toBe(address);
});

test('a Service over the budget loses its listeners with an Event, and gets them back', async () => {
  await lab.start();
  for (const name of ['web', 'other']) {
    await lab.client.create(services, newService(name));
    await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
    await untilServed(lab, name);
  }
  const portsOf = async (name: string) => {
    const found = (await lab.balancers()).find((balancer) => balancer.name === `default/${name}`);
    return found?.listeners.map(({ port }) => port);
  };
  const restrict = (ranges: readonly string[] | null) =>
    lab.client.patchMerge(
      services,
      { namespace: 'default', name: 'web' },
      { spec: { loadBalancerSourceRanges: ranges } },
    );
  const address = await lab.addressOf('web');
  await restrict(manyRanges(2001));
  await until(() =>
    expect(lab.events.join()).toContain(
      'OverBudget: The Service has 2001 source ranges; the limit',
    ),
  );
  await until(async () => expect(await portsOf('web')).toEqual([]));
  expect(await portsOf('other')).toEqual([80]);
  await restrict(null);
  await until(async () => expect(await portsOf('web')).toEqual([80]));
  await untilServed(lab, 'web');
  expect(await lab.addressOf('web')).toBe(address);
});

test('the embedded cloud rejects the same requests as the driver, with a 501', async () => {
  const balancing = await lab.balancing();
  const call = { signal: never };
  const spec = { name: 'own', vipSubnetId: lab.privateSubnet, provider: 'ovn' };
  const { id } = await balancing.createLoadBalancer(spec, { ...call, once: 'name' });
  await balancing.waiter.active(id, call);
  const listener = { name: 'l', loadBalancerId: id, port: parsePort(80) };
  const pool = { name: 'p', parent: { loadBalancerId: id }, protocol: 'TCP' } as const;
  const attempts = [
    () => balancing.createListener({ ...listener, protocol: 'HTTP' }, call),
    () =>
      balancing.createListener(
        { ...listener, protocol: 'TCP', allowedCidrs: ['10.0.0.0/8'] },
        call,
      ),
    () => balancing.createPool({ ...pool, algorithm: 'ROUND_ROBIN' }, call),
  ];
  for (const attempt of attempts) {
    await expect(attempt()).rejects.toMatchObject({ code: 'unsupported', status: 501 });
  }
  const made = await balancing.createPool({ ...pool, algorithm: 'SOURCE_IP_PORT' }, call);
  await balancing.waiter.active(id, call);
  const member = { address: parseAddress('10.10.1.1'), port: parsePort(80) };
  await expect(
    balancing.createMember(made.id, { ...member, monitorPort: parsePort(81) }, call),
  ).rejects.toMatchObject({ status: 501 });
  await balancing.createMember(made.id, member, call);
  await balancing.waiter.active(id, call);
  const monitor = { poolId: made.id, delay: 5, timeout: 3, maxRetries: 2 } as const;
  await expect(
    balancing.createHealthMonitor({ ...monitor, type: 'HTTP' }, call),
  ).rejects.toMatchObject({ status: 501 });
});
