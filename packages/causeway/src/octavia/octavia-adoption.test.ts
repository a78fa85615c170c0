import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { quickPauses } from '../../../../test/openstack/quick-clock.ts';
import {
  essenceOf,
  never,
  newService,
  newSlice,
  OctaviaLab,
} from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { leaveAsKuryr } from '../../../../test/octavia/kuryr.ts';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { whenUnlocked } from '@causeway/openstack/load-balancing/lock';
import { startEmbeddedKubernetes } from '@causeway/fake-kubernetes/start';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { kuryrLoadBalancers } from './kuryr-load-balancer.ts';

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
let subnet = '';
const named = (name: string) => ({ namespace: 'default', name });
const kuryrWay = () => ({
  vip: 'ClusterIP' as const,
  clusterIP: 'all' as const,
  subnets: [subnet],
});

beforeEach(async () => {
  ({ cloud, lab, stop } = await openEmbeddedLab());
  subnet = await lab.serviceSubnet();
});

afterEach(() => stop());

async function essence() {
  return (await lab.balancers()).map(essenceOf);
}

test("adopts Kuryr's objects without recreating them, and deletes them with the Service", async () => {
  await leaveAsKuryr(lab, { name: 'inside', type: 'ClusterIP', subnet });
  await leaveAsKuryr(lab, { name: 'web', type: 'LoadBalancer', subnet });
  const before = await essence();
  const address = await lab.addressOf('web');
  const floating = await lab.floatingIps();
  const klbs = await Promise.all(['inside', 'web'].map((name) => lab.klb(name)));
  const changes: string[] = [];
  const end = cloud.onRequest(({ method, path }) => {
    if (method !== 'GET' && !path.includes('/auth/'))
      changes.push(`${method} ${path.replace(/[^/]*$/, 'ID')}`);
  });
  await lab.start(kuryrWay());
  for (const name of ['inside', 'web']) await untilServed(lab, name);
  await until(async () => expect(await essence()).toEqual(before));
  end();
  expect(changes).toEqual(Array(2).fill(expect.stringMatching(/^PUT .*loadbalancers\/ID$/)));
  expect(await lab.addressOf('web')).toBe(address);
  expect(await lab.floatingIps()).toEqual(floating);
  for (const [index, name] of ['inside', 'web'].entries()) {
    const { version, conditions, ...status } = (await lab.klb(name))?.status ?? {};
    expect([version, conditions?.[0]?.status]).toEqual([1, 'True']);
    expect(status).toEqual(klbs[index]?.status);
  }
  for (const name of ['inside', 'web']) {
    await lab.client.delete(services, named(name));
    await until(async () => expect(await lab.service(name)).toBeUndefined());
    await until(async () => expect(await lab.client.find(endpoints, named(name))).toBeUndefined());
  }
  expect(await lab.balancers()).toEqual([]);
  expect(await lab.floatingIps()).toEqual([]);
});

test("finds Kuryr's load balancer by name and address after the status was lost", async () => {
  await leaveAsKuryr(lab, { name: 'web', type: 'LoadBalancer', subnet });
  const status = { loadbalancer: null, listeners: null, pools: null, members: null };
  const unstated = { status };
  await lab.start(kuryrWay());
  await untilServed(lab, 'web');
  await lab.stop();
  const before = await essence();
  await lab.client.patchMerge(kuryrLoadBalancers, named('web'), unstated, {
    subresource: 'status',
  });
  const [balancer] = await lab.balancers();
  const plain = { description: '', tags: [] };
  const balancing = await lab.balancing();
  const call = { signal: never };
  const unmark = () => balancing.updateLoadBalancer(balancer?.id ?? '', plain, call);
  await whenUnlocked(balancing.waiter, balancer?.id ?? '', unmark, call);
  await lab.start(kuryrWay());
  await until(async () =>
    expect((await lab.klb('web'))?.status?.loadbalancer?.id).toBe(balancer?.id),
  );
  await until(async () => expect(await essence()).toEqual(before));
});

test('releases a Service of Kuryr that was deleted before its adoption', async () => {
  await leaveAsKuryr(lab, { name: 'web', type: 'LoadBalancer', subnet });
  await lab.client.delete(services, named('web'));
  await lab.start(kuryrWay());
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await lab.balancers()).toEqual([]);
  expect(await lab.floatingIps()).toEqual([]);
});

test('converts the state of an older Kuryr from its annotations, and records an Event for an unreadable one', async () => {
  await leaveAsKuryr(lab, { name: 'old', type: 'LoadBalancer', subnet, asAnnotations: true });
  await leaveAsKuryr(lab, { name: 'torn', type: 'ClusterIP', subnet, asAnnotations: true });
  const state = 'openstack.org/kuryr-lbaas-state';
  await lab.client.patchMerge(endpoints, named('torn'), {
    metadata: { annotations: { [state]: '{"versioned_object.name": "LBaaSState"' } },
  });
  const before = await essence();
  await lab.start(kuryrWay());
  for (const name of ['old', 'torn']) await untilServed(lab, name);
  await until(async () => expect(await essence()).toEqual(before));
  expect((await lab.klb('old'))?.status?.service_pub_ip_info?.alloc_method).toBe('pool');
  const left = (await lab.service('old'))?.metadata?.annotations;
  expect(left).not.toHaveProperty(['openstack.org/kuryr-lbaas-spec']);
  const { metadata } = await lab.client.get(endpoints, named('old'));
  expect(metadata?.annotations ?? {}).not.toHaveProperty([state]);
  await until(() => expect(lab.events.join('\n')).toContain('torn Warning KuryrStateUnreadable'));
});

test("two clusters in one project don't affect each other, with the same names", async () => {
  const other = await startEmbeddedKubernetes();
  const { authUrl, region } = cloud;
  const second = await OctaviaLab.open({ ...other, authUrl, region, cloudOptions: quickPauses });
  try {
    await lab.start({}, 'one', 100);
    await second.start({}, 'two', 100);
    for (const cluster of [lab, second]) {
      await cluster.client.create(services, newService('web'));
      await cluster.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
    }
    for (const cluster of [lab, second]) await untilServed(cluster, 'web');
    expect(await lab.balancers()).toHaveLength(2);
    const theirs = (await second.klb('web'))?.status;
    const share = { 'loadbalancer.openstack.org/load-balancer-id': theirs?.loadbalancer?.id };
    await lab.client.create(services, newService('intruder', { ports: [{ port: 99 }] }, share));
    await lab.client.create(endpointSlices, newSlice('intruder', ['10.10.1.1']));
    await until(() => expect(lab.events.join('\n')).toContain('OtherClustersLoadBalancer'));
    await lab.client.delete(services, named('intruder'));
    await lab.client.delete(services, named('web'));
    await until(async () => expect(await lab.service('web')).toBeUndefined());
    expect((await lab.balancers()).map(({ id }) => id)).toEqual([theirs?.loadbalancer?.id]);
    expect((await lab.floatingIps()).map(({ id }) => id)).toEqual([
      theirs?.service_pub_ip_info?.ip_id,
    ]);
    expect((await second.klb('web'))?.status).toEqual(theirs);
  } finally {
    await second.close();
    await other.stop();
  }
});

test('Services share a load balancer by its ID, and the last one deletes it', async () => {
  await lab.start({}, 'lab', 200);
  const serve = async (name: string, port: number, annotations = {}) => {
    await lab.client.create(services, newService(name, { ports: [{ port }] }, annotations));
    await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
  };
  await serve('first', 80);
  await untilServed(lab, 'first');
  const [balancer] = await lab.balancers();
  const share = { 'loadbalancer.openstack.org/load-balancer-id': balancer?.id };
  await serve('second', 81, share);
  await untilServed(lab, 'second');
  expect(await lab.addressOf('second')).toBe(await lab.addressOf('first'));
  await serve('third', 80, share);
  await until(() => expect(lab.events.join('\n')).toContain('third Warning PortTaken'));
  const names = async () =>
    (await lab.balancers()).flatMap(({ listeners }) => listeners.map(({ name }) => name));
  expect(await names()).toEqual(['default/first:TCP:80', 'default/second:TCP:81']);
  await lab.client.delete(services, named('third'));
  await lab.client.delete(services, named('first'));
  await until(async () => expect(await lab.service('first')).toBeUndefined());
  expect(await names()).toEqual(['default/second:TCP:81']);
  expect((await lab.floatingIps()).map(({ portId }) => portId)).toEqual([balancer?.vipPortId]);
  await lab.client.delete(services, named('second'));
  await until(async () => expect(await lab.service('second')).toBeUndefined());
  await until(async () => expect(await lab.balancers()).toEqual([]));
  await until(async () => expect(await lab.floatingIps()).toEqual([]));
});
