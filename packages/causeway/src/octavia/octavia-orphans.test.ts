import { afterEach, beforeEach, expect, test } from 'vitest';
import { openClusterIn, openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { never, newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { configMaps, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { confirmation, orphanRegisterName } from '../services/orphan-register.ts';
import { kuryrLoadBalancers } from './kuryr-load-balancer.ts';

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stops: (() => Promise<void>)[];
const named = (name: string) => ({ namespace: 'default', name });
const driftMs = 50;

beforeEach(async () => {
  const opened = await openEmbeddedLab();
  ({ cloud, lab } = opened);
  stops = [opened.stop];
});

afterEach(async () => {
  for (const stop of stops) await stop();
});

async function secondCluster(): Promise<OctaviaLab> {
  const second = await openClusterIn(cloud);
  stops.unshift(second.stop);
  return second.lab;
}

async function serve(name: string, where = lab): Promise<void> {
  await where.client.create(services, newService(name));
  await where.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
  await untilServed(where, name);
}

/** Waits for several drift checks: each lists the floating IPs. */
async function untilChecked(count: number): Promise<void> {
  let checks = 0;
  const end = cloud.onRequest(({ method, path }) => {
    if (method === 'GET' && path.includes('floatingips')) checks += 1;
  });
  await until(() => expect(checks).toBeGreaterThan(count));
  end();
}

/** The objects in OpenStack, with their marks. */
async function inCloud() {
  const balancers = await lab.balancers();
  return {
    balancers: balancers.map(({ id, description, listeners }) => ({ id, description, listeners })),
    floatingIps: (await lab.floatingIps()).map(({ id, description, portId }) => ({
      id,
      description,
      portId,
    })),
  };
}

/** Rewrites the marks as 0.1.0 wrote them: with the clusterId, without the UID of the cluster. */
async function markAsBefore(): Promise<void> {
  const { octavia, neutron } = cloud;
  const without = (text: string) => text.replace(/@[^ ]+$/, '');
  for (const row of octavia.loadBalancers.all())
    octavia.loadBalancers.update(row, { description: without(row.description) });
  for (const row of neutron.floatingIps.all())
    neutron.floatingIps.update(row, { description: without(row.description) });
  await Promise.resolve();
}

/** Simulates an etcd restore from a backup that is older than the Service. */
async function restoreWithout(name: string): Promise<void> {
  const unheld = { metadata: { finalizers: null } };
  await lab.client.patchMerge(kuryrLoadBalancers, named(name), unheld);
  await lab.client.delete(kuryrLoadBalancers, named(name));
  await lab.client.patchMerge(services, named(name), unheld);
  await lab.client.delete(services, named(name));
}

test('a second, empty cluster with the same clusterId deletes nothing and reports the conflict', async () => {
  await lab.start({}, 'prod');
  await serve('web');
  const before = await inCloud();
  const second = await secondCluster();
  const metrics = new PrometheusMetrics();
  second.metrics = metrics;
  await second.start({}, 'prod', driftMs);
  await until(() => expect(second.events.join('\n')).toContain('ClusterIdShared'));
  await untilChecked(5);
  expect(await inCloud()).toEqual(before);
  expect(await second.orphans()).toMatchObject({
    orphans: [],
    otherClusters: [expect.any(String)],
  });
  expect(await metrics.render()).toContain('causeway_cluster_id_conflicts{provider="octavia"} 1');
});

test('marks of 0.1.0: the owner adopts its objects in place, another cluster holds them', async () => {
  await lab.start({}, 'prod', driftMs);
  await serve('web');
  const before = await inCloud();
  await lab.stop();
  await markAsBefore();
  const second = await secondCluster();
  await serveNothing(second);
  await until(async () =>
    expect((await second.orphans())?.orphans).toMatchObject([{ mark: 'old' }, { mark: 'old' }]),
  );
  expect(second.events.join('\n')).toContain('OrphansHeld');
  await untilChecked(5);
  expect((await inCloud()).balancers.map(({ id }) => id)).toEqual(
    before.balancers.map(({ id }) => id),
  );
  await lab.start({}, 'prod', driftMs);
  await until(async () => expect(await inCloud()).toEqual(before));
  await until(async () => expect((await second.orphans())?.orphans).toEqual([]));
});

/** A controller without Services and with frequent drift checks. */
const serveNothing = (where: OctaviaLab) => where.start({}, 'prod', driftMs);

test('holds a load balancer whose Service a restore has lost, and returns it to the Service', async () => {
  const metrics = new PrometheusMetrics();
  lab.metrics = metrics;
  await lab.start({}, 'prod');
  await serve('web');
  const [address, before] = [await lab.addressOf('web'), await inCloud()];
  await lab.stop();
  await restoreWithout('web');
  await lab.start({}, 'prod', driftMs);
  await until(async () =>
    expect((await lab.orphans())?.orphans).toMatchObject([
      { service: 'default/web', mark: 'own' },
      { service: 'default/web', mark: 'own' },
    ]),
  );
  expect(await metrics.render()).toContain(
    'causeway_orphans{provider="octavia",kind="load-balancer"} 1',
  );
  await untilChecked(5);
  expect(await inCloud()).toEqual(before);
  await lab.client.create(services, newService('web'));
  await untilServed(lab, 'web');
  expect(await lab.addressOf('web')).toBe(address);
  expect((await inCloud()).balancers.map(({ id }) => id)).toEqual(
    before.balancers.map(({ id }) => id),
  );
  await until(async () => expect(await lab.orphans()).toBeUndefined());
  // The load balancer belongs to the Service again, and is deleted with it.
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.service('web')).toBeUndefined());
  expect(await inCloud()).toEqual({ balancers: [], floatingIps: [] });
});

test('an operator confirms the deletion of one orphan, and the others stay', async () => {
  await lab.start({}, 'prod');
  await serve('web');
  await serve('mail');
  await lab.stop();
  await restoreWithout('web');
  await restoreWithout('mail');
  await lab.start({}, 'prod', driftMs);
  await until(async () => expect((await lab.orphans())?.orphans).toHaveLength(4));
  const web = (await lab.orphans())?.orphans.find(
    ({ kind, service }) => kind === 'load-balancer' && service === 'default/web',
  );
  const metadata = { namespace: 'kube-system', name: orphanRegisterName };
  const change = confirmation('octavia', [web?.id ?? ''], 'by hand');
  await patchOrCreate(lab.client, configMaps, { metadata }, change, never);
  await until(() => expect(lab.events.join('\n')).toContain('OrphanDeleted'));
  await until(async () => expect((await lab.orphans())?.orphans).toHaveLength(3));
  expect((await lab.balancers()).map(({ name }) => name)).toEqual(['default/mail']);
  expect(await lab.floatingIps()).toHaveLength(2);
  // A completed confirmation is removed.
  await until(async () => expect((await lab.orphans())?.confirmed).toEqual([]));
});

test('a confirmation that is older than the orphan deletes nothing', async () => {
  await lab.start({}, 'prod', driftMs);
  await serve('web');
  await untilChecked(2);
  const [web] = await lab.balancers();
  const metadata = { namespace: 'kube-system', name: orphanRegisterName };
  const change = confirmation('octavia', [web?.id ?? ''], 'by hand');
  await patchOrCreate(lab.client, configMaps, { metadata }, change, never);
  const before = await inCloud();
  await restoreWithout('web');
  await until(async () => expect((await lab.orphans())?.orphans).toHaveLength(2));
  await until(async () => expect((await lab.orphans())?.confirmed).toEqual([]));
  await untilChecked(4);
  expect(await inCloud()).toEqual(before);
});

test('keeps the rules of a second cluster in the same security group, and those of held load balancers', async () => {
  const call = { signal: never };
  const group = await lab.neutron.securityGroups.create({ name: 'pods' }, call);
  const ingress = async () => {
    const { rules } = await lab.neutron.securityGroups.get(group.id, call);
    return rules.filter(({ direction }) => direction === 'ingress');
  };
  await lab.start({ podSecurityGroup: group.id }, 'prod');
  await serve('web');
  const second = await secondCluster();
  await second.start({ podSecurityGroup: group.id }, 'prod', driftMs);
  await untilChecked(5);
  expect(await ingress()).toHaveLength(1);
  await lab.stop();
  await restoreWithout('web');
  await lab.start({ podSecurityGroup: group.id }, 'prod', driftMs);
  await until(async () => expect((await lab.orphans())?.orphans).toHaveLength(2));
  await untilChecked(5);
  expect(await ingress()).toHaveLength(1);
});
