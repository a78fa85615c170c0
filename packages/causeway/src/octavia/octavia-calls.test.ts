import { afterEach, expect, test } from 'vitest';
import { openEmbeddedLab, type CloudOptions } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, nodes, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

// Costs in calls to the cloud.

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const calls: string[] = [];

async function begin(options: CloudOptions = {}): Promise<void> {
  ({ cloud, lab, stop } = await openEmbeddedLab(options));
  calls.length = 0;
  cloud.onRequest(({ method, service, path }) => {
    if (service !== 'identity') calls.push(`${method} ${service} ${path}`);
  });
}

afterEach(() => stop());

const writes = (service = '') =>
  calls.filter((call) => !call.startsWith('GET') && call.includes(` ${service}`));
const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `10.10.1.${index + 1}`);
const ports = ['a', 'b', 'c'].map((name, index) => ({ name, port: 80 + index }));
const targets = ports.map(({ name, port }) => ({ name, port, protocol: 'TCP' as const }));

test('3 ports and 50 members are one write to Octavia and at most 3 to Neutron', async () => {
  await begin();
  const group = await lab.neutron.securityGroups.create({ name: 'pods' }, { signal: never });
  await lab.start({ podSecurityGroup: group.id });
  calls.length = 0;
  await lab.client.create(endpointSlices, newSlice('web', addresses(50), targets));
  await lab.client.create(services, newService('web', { ports }));
  await untilServed(lab, 'web');
  expect(writes('load-balancer')).toHaveLength(1);
  expect(writes('network')).toHaveLength(2);
  const { rules } = await lab.neutron.securityGroups.get(group.id, { signal: never });
  const open = rules
    .filter(({ direction }) => direction === 'ingress')
    .map(({ portMin }) => portMin);
  expect(new Set(open)).toEqual(new Set([80, 81, 82]));
});

test('50 members become 60 in one write, and an unchanged Service costs no call', async () => {
  await begin();
  await lab.start();
  await lab.client.create(endpointSlices, newSlice('web', addresses(50)));
  await lab.client.create(services, newService('web'));
  await untilServed(lab, 'web');
  calls.length = 0;
  await lab.client.update(endpointSlices, newSlice('web', addresses(60)));
  await until(async () => expect((await lab.klb('web'))?.status?.members).toHaveLength(60));
  expect(writes()).toHaveLength(1);
  calls.length = 0;
  await lab.client.patchMerge(
    services,
    { namespace: 'default', name: 'web' },
    {
      metadata: { labels: { seen: 'yes' } },
    },
  );
  await lab.client.create(services, newService('other'));
  await until(async () => expect(await lab.klb('other')).toBeDefined());
  // The controller may still read the result of the last change.
  expect(calls.filter((call) => !/^GET load-balancer .*loadbalancers\/[^/]+$/.test(call))).toEqual(
    [],
  );
});

test('a hundred changes of pods within a second are one write', async () => {
  await begin();
  // Longer than any pause of this process.
  lab.quietMs = 5_000;
  await lab.start();
  await lab.client.create(endpointSlices, newSlice('web', addresses(1)));
  await lab.client.create(services, newService('web'));
  await untilServed(lab, 'web');
  calls.length = 0;
  for (let count = 1; count <= 100; count += 1) {
    await lab.client.update(endpointSlices, newSlice('web', addresses(count)));
  }
  await until(async () => expect((await lab.klb('web'))?.status?.members).toHaveLength(100));
  expect(writes()).toHaveLength(1);
});

test('a hundred changes of nodes within a second are one write to each pool', async () => {
  await begin();
  lab.quietMs = 5_000;
  const name = (number: number) => `n${number}`;
  const condition = (status: 'True' | 'False') => ({ conditions: [{ type: 'Ready', status }] });
  const add = (number: number) =>
    lab.client.create(nodes, {
      metadata: { name: name(number) },
      status: {
        addresses: [{ type: 'InternalIP', address: `10.10.2.${number}` }],
        ...condition('True'),
      },
    });
  await add(1);
  await lab.start({ members: 'NodePort' });
  await lab.client.create(endpointSlices, newSlice('web', addresses(1), targets));
  await lab.client.create(services, newService('web', { ports }));
  await untilServed(lab, 'web');
  calls.length = 0;
  for (let number = 2; number <= 51; number += 1) await add(number);
  for (let number = 2; number <= 51; number += 1) {
    const change = { status: condition(number % 2 === 0 ? 'False' : 'True') };
    await lab.client.patchMerge(nodes, { name: name(number) }, change, { subresource: 'status' });
  }
  // The first node, and every second of the fifty.
  const members = 26 * ports.length;
  await until(async () => expect((await lab.klb('web'))?.status?.members).toHaveLength(members));
  expect(writes()).toHaveLength(ports.length);
});

test('a start and a drift check cost as many calls as the lists have pages, and none per Service', async () => {
  const pageSize = 20;
  await begin({ pageSize });
  await lab.start();
  const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
  await Promise.all(
    names.map(async (name) => {
      await lab.client.create(endpointSlices, newSlice(name, addresses(1), targets));
      await lab.client.create(services, newService(name, { ports }));
    }),
  );
  for (const name of names) await untilServed(lab, name);
  const startAnew = async (last: string, driftEveryMs?: number) => {
    await lab.stop();
    calls.length = 0;
    await lab.start({ memberSample: 0 }, 'lab', driftEveryMs);
    await lab.client.create(services, newService(last));
    await until(async () => expect(await lab.klb(last)).toBeDefined());
  };
  await startAnew('last');
  const pages = (count: number) => Math.ceil(count / pageSize);
  const lists = pages(30) + pages(90) + pages(90) + pages(30);
  const started = calls.filter((call) => /(loadbalancers|listeners|pools|floatingips)$/.test(call));
  expect(started.length).toBeLessThanOrEqual(lists + 4);
  expect(calls.length - started.length).toBeLessThanOrEqual(2);
  await startAnew('very-last', 4_000);
  calls.length = 0;
  const checks = () => calls.filter((call) => call.endsWith('floatingips')).length / pages(30);
  await until(() => expect(checks()).toBeGreaterThanOrEqual(1));
  expect(calls.length).toBeLessThanOrEqual((lists + 4) * Math.ceil(checks()));
  expect(writes()).toEqual([]);
});
