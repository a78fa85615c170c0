import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { patchOrCreate } from '@causeway/kubernetes/client/patch-or-create';
import { configMaps, services } from '@causeway/kubernetes/objects/resources';
import { PrometheusMetrics } from '@causeway/base/observability/prometheus';
import { Cloud } from '@causeway/openstack/cloud';
import { cloudConfigFrom } from '@causeway/openstack/config/settings';
import { Neutron } from '@causeway/openstack/neutron/neutron';
import type { Subnet } from '@causeway/openstack/neutron/resources';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { startEmbeddedOpenStack, type EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';
import { accounts } from '@causeway/fake-openstack/seed';
import { readClusterIdentity, type ClusterIdentity } from '../../../services/cluster-identity.ts';
import { confirmation, orphanRegisterName } from '../../../services/orphan-register.ts';
import { OpenStackPortManager } from '../ports/openstack-port-manager.ts';
import { configMapPortRecords, portRecordsName } from '../ports/port-records.ts';
import { named, newService, ProviderLab, until } from '../simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

const { signal } = new AbortController();
let openstack: EmbeddedOpenStack;
let cloud: Cloud;
let subnet: Subnet;
let floatingNetwork = '';
let lab: ProviderLab;
let second: ProviderLab | undefined;

beforeEach(async () => {
  openstack = await startEmbeddedOpenStack();
  const { user, password, domain, project } = accounts.demo;
  const settings = cloudConfigFrom('demo', {
    auth_url: openstack.authUrl,
    region_name: openstack.region,
    username: user,
    password,
    user_domain_name: domain,
    project_name: project,
    project_domain_name: domain,
  });
  cloud = new Cloud(settings, { log: discardLog, metrics: noMetrics });
  const neutron = new Neutron(cloud.session());
  for await (const network of neutron.networks.list({ external: true }, { signal }))
    floatingNetwork = network.id;
  for await (const each of neutron.subnets.list({ family: 4 }, { signal }))
    if (each.networkId !== floatingNetwork) subnet = each;
  second = undefined;
  lab = await openCluster();
});

afterEach(async () => {
  await second?.close();
  await lab.close();
  await cloud.close();
  await openstack.stop();
});

/** A cluster with its own gateways and the clusterId `prod`. */
async function openCluster(): Promise<ProviderLab> {
  const opened = await ProviderLab.start();
  const cluster: ClusterIdentity = await readClusterIdentity('prod', opened.client, signal);
  const place = { client: opened.client, clock: systemClock, namespace: 'kube-system' };
  opened.driftEveryMs = 50;
  opened.manager = () =>
    new OpenStackPortManager({
      cluster,
      neutron: new Neutron(cloud.session()),
      records: configMapPortRecords(place),
      subnets: new Map([[4, subnet]]),
      floating: { networkId: floatingNetwork },
    });
  return opened;
}

/** The objects of all clusters, with their marks. */
function inCloud() {
  const { ports, floatingIps } = openstack.neutron;
  return {
    ports: ports
      .all()
      .filter(({ name }) => name.startsWith('causeway-'))
      .map(({ id, description, tags }) => ({ id, description, tags: [...tags].sort() })),
    floatingIps: floatingIps
      .all()
      .map(({ id, description, port_id: portId }) => ({ id, description, portId })),
  };
}

/** Waits for several drift checks: each lists the ports. */
async function untilChecked(count: number): Promise<void> {
  let checks = 0;
  const end = openstack.onRequest(({ method, path }) => {
    if (method === 'GET' && path.includes('ports')) checks += 1;
  });
  await until(() => expect(checks).toBeGreaterThan(count));
  end();
}

async function serve(name: string, port = 80, annotations = {}): Promise<void> {
  await lab.client.create(services, newService(name, port, annotations));
  await lab.untilServed(name);
}

/** Simulates a restore of etcd from a backup that is older than these Services and their ports. */
async function restoreWithout(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await lab.patch(name, { metadata: { finalizers: null } });
    await lab.client.delete(services, named(name));
  }
  await lab.client.delete(configMaps, { namespace: 'kube-system', name: portRecordsName });
}

/** Changes the marks to the format of 0.1.0: with the clusterId, without the UID of the cluster. */
function markAsBefore(): void {
  const { ports, floatingIps } = openstack.neutron;
  const without = (text: string) => text.replace(/, UID [^ ]+$/, '');
  const tagsWithout = (tags: readonly string[]) => tags.filter((tag) => !tag.includes('/uid='));
  for (const row of ports.all()) {
    ports.update(row, { description: without(row.description), tags: tagsWithout(row.tags) });
  }
  for (const row of floatingIps.all()) {
    floatingIps.update(row, { description: without(row.description), tags: tagsWithout(row.tags) });
  }
}

test('deletes nothing in a second, empty cluster with the same clusterId, and reports the conflict', async () => {
  lab.startController();
  await serve('web');
  const before = inCloud();
  expect(before.ports).toHaveLength(1);
  second = await openCluster();
  const metrics = new PrometheusMetrics();
  second.metrics = metrics;
  second.startController();
  await second.untilEvent('ClusterIdShared');
  await untilChecked(6);
  expect(inCloud()).toEqual(before);
  expect(await second.orphans()).toMatchObject({
    orphans: [],
    otherClusters: [expect.any(String)],
  });
  expect(await metrics.render()).toContain('causeway_cluster_id_conflicts{provider="gateway"} 1');
});

test("with marks of 0.1.0, adopts the owner's ports in place, and keeps them in another cluster", async () => {
  lab.startController();
  await serve('web');
  const [before, address] = [inCloud(), await lab.addressOf('web')];
  await lab.stopController();
  markAsBefore();
  await lab.client.delete(configMaps, { namespace: 'kube-system', name: portRecordsName });
  second = await openCluster();
  second.startController();
  await second.untilEvent('OrphansHeld');
  await untilChecked(6);
  expect(inCloud().ports.map(({ id }) => id)).toEqual(before.ports.map(({ id }) => id));
  expect((await second.orphans())?.orphans).toMatchObject([{ kind: 'port', mark: 'old' }]);
  lab.startController();
  await until(() => expect(inCloud()).toEqual(before));
  expect(await lab.addressOf('web')).toBe(address);
  await until(async () => expect((await second?.orphans())?.orphans).toEqual([]));
});

test('keeps a port without a Service after a restore, and gives it to a Service that requests its address', async () => {
  const metrics = new PrometheusMetrics();
  lab.metrics = metrics;
  lab.startController();
  await serve('web');
  const [before, address] = [inCloud(), await lab.addressOf('web')];
  await lab.stopController();
  await restoreWithout('web');
  lab.startController();
  await lab.untilEvent('OrphansHeld');
  await untilChecked(6);
  expect(inCloud()).toEqual(before);
  expect((await lab.orphans())?.orphans).toMatchObject([{ kind: 'port', address, mark: 'own' }]);
  expect(await metrics.render()).toContain('causeway_orphans{provider="gateway",kind="port"} 1');
  await serve('web', 80, { 'causeway.dev/address': address });
  expect(await lab.addressOf('web')).toBe(address);
  expect(inCloud().ports.map(({ id }) => id)).toEqual(before.ports.map(({ id }) => id));
  await until(async () => expect(await lab.orphans()).toBeUndefined());
  // The port belongs to the Service again, and is deleted with it.
  await lab.client.delete(services, named('web'));
  await until(() => expect(inCloud()).toEqual({ ports: [], floatingIps: [] }));
});

test("deletes one orphan after an operator's confirmation, and keeps the others", async () => {
  lab.startController();
  await serve('web');
  await serve('mail');
  await lab.stopController();
  await restoreWithout('web', 'mail');
  lab.startController();
  await until(async () => expect((await lab.orphans())?.orphans).toHaveLength(2));
  const [first, other] = (await lab.orphans())?.orphans ?? [];
  const metadata = { namespace: 'kube-system', name: orphanRegisterName };
  const change = confirmation('gateway', [first?.id ?? ''], 'by hand');
  await patchOrCreate(lab.client, configMaps, { metadata }, change, signal);
  await lab.untilEvent('OrphanDeleted');
  await until(() => expect(inCloud().ports.map(({ id }) => id)).toEqual([other?.id]));
  await until(async () => expect((await lab.orphans())?.orphans).toHaveLength(1));
  expect(inCloud().floatingIps).toHaveLength(1);
});
