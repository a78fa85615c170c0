import { afterEach, beforeEach, expect, test } from 'vitest';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import { leases, nodes, services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { PendingReleases } from '../../../packages/causeway/src/pool/pending-releases.ts';
import { LedgerCheck } from '../../../packages/causeway/src/pool/ledger-check.ts';
import { PoolLedger } from '../../../packages/causeway/src/pool/pool-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { never, startServer, type ServerUnderTest } from '../ipam/server-under-test.ts';
import { ClusterUnderTest, named, until } from './cluster-under-test.ts';

const here = { site: 'edge', cluster: 'blue' };
let server: ServerUnderTest;
let cluster: ClusterUnderTest;
let ipam: IpamClient;

beforeEach(async () => {
  server = await startServer();
  const call = server.operator.call.bind(server.operator);
  const times = { quarantineMs: 60_000, unconfirmedQuarantineMs: 600_000 };
  await call('setSite', { params: { site: 'edge' }, body: times }, never);
  const pool = { addresses: ['192.0.2.1-192.0.2.4', '2001:db8::1-2001:db8::4'] };
  await call('setPool', { params: { site: 'edge', pool: 'public' }, body: pool }, never);
  const body = { cluster: 'blue' };
  const { token } = await call('createCluster', { params: { site: 'edge' }, body }, never);
  ipam = server.client(token);
  cluster = await ClusterUnderTest.start();
});

afterEach(async () => {
  await cluster.stop();
  await server.stop();
});

async function stateOf(address: string) {
  const params = { site: 'edge', address };
  return server.operator.call('whoHas', { params }, never);
}

/** Reclaims the cluster's addresses, and assigns the address to another cluster at once. */
async function giveToOthers(address: string): Promise<void> {
  const call = server.operator.call.bind(server.operator);
  const params = { site: 'edge' };
  await call('setSite', { params, body: { quarantineMs: 0 } }, never);
  await call('createCluster', { params, body: { cluster: 'green' } }, never);
  await call('reclaimCluster', { params: here, body: { withdrawn: true } }, never);
  const body = { uid: 'rival', addresses: [address] };
  await call('reserve', { params: { ...params, cluster: 'green' }, body }, never);
}

/** Remaining quarantine of the address, in milliseconds. */
async function restOf(address: string): Promise<number> {
  return ((await stateOf(address)).until ?? 0) - Date.now();
}

test('a Service gets an address of the pool into its status, and releases it into quarantine', async () => {
  cluster.startController({ ipam, announcer: 'plain' });
  await cluster.create('web');
  await until(async () => expect(await cluster.addressesOf('web')).toHaveLength(1));
  const [address = ''] = await cluster.addressesOf('web');
  expect(await stateOf(address)).toMatchObject({ state: 'held', cluster: 'blue' });
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
  expect(await stateOf(address)).toMatchObject({ state: 'resting' });
  // The announcer behind a plain status is not visible, so the quarantine is longer.
  expect(await restOf(address)).toBeGreaterThan(500_000);
});

test('MetalLB gets the address, writes the status itself, and is waited for before the address is released', async () => {
  cluster.startController({ ipam, announcer: 'metallb' });
  await cluster.create('web');
  let address = '';
  await until(async () => {
    address = (await cluster.annotation('web', 'metallb.io/loadBalancerIPs')) ?? '';
    expect(address).toMatch(/^192\.0\.2\.\d$/);
  });
  expect(await cluster.addressesOf('web')).toEqual([]);
  await cluster.announce('web', [address]);
  await until(async () =>
    expect((await cluster.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
  expect(await stateOf(address)).toMatchObject({ state: 'resting' });
});

test('an address is not released while a Service that left the provider still shows it', async () => {
  cluster.startController({ ipam, isDefault: false });
  const annotations = { 'causeway.dev/announcer': 'metallb' };
  await cluster.create('web', { metadata: { annotations } });
  let address = '';
  await until(async () => {
    address = (await cluster.annotation('web', 'metallb.io/loadBalancerIPs')) ?? '';
    expect(address).not.toBe('');
  });
  await cluster.announce('web', [address]);
  const withoutIt = { metadata: { annotations: { 'causeway.dev/announcer': null } } };
  await cluster.client.patchMerge(services, named('web'), withoutIt);
  await until(async () =>
    expect(await cluster.annotation('web', 'metallb.io/loadBalancerIPs')).toBeUndefined(),
  );
  await until(() => expect(cluster.events.join('\n')).toContain('DeletingLoadBalancer'));
  expect(await stateOf(address)).toMatchObject({ state: 'held' });
  await cluster.announce('web', []);
  await until(async () => expect(await stateOf(address)).toMatchObject({ state: 'resting' }));
});

test('an outage of the ledger only stops new addresses', async () => {
  cluster.startController({ ipam, announcer: 'plain' });
  await cluster.create('web');
  await until(async () =>
    expect((await cluster.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
  );
  await cluster.stopController();
  const before = await cluster.read('web');
  const unreachable = new IpamClient({ urls: ['http://127.0.0.1:1'], clock: systemClock });
  cluster.startController({ ipam: unreachable, announcer: 'plain' });
  await cluster.create('new');
  await until(() => expect(cluster.events.join('\n')).toContain('SyncLoadBalancerFailed'));
  expect(await cluster.read('web')).toEqual(before);
  await unreachable.close();
});

const metalLb = 'metallb.io/loadBalancerIPs';
const kubeVip = 'kube-vip.io/loadbalancerIPs';

test('a cluster that promised to withdraw does, keeps its address, and announces it again', async () => {
  const selfWithdrawal = { afterMs: 60_000, graceMs: 60_000 };
  await server.operator.call('configureCluster', { params: here, body: { selfWithdrawal } }, never);
  let offset = 0;
  let isCut = false;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + offset };
  const cutOff: Pick<IpamClient, 'call'> = {
    call: (...args) =>
      isCut ? Promise.reject(new CausewayError('unavailable', 'cut off')) : ipam.call(...args),
  };
  cluster.startController({ ipam: cutOff, announcer: 'metallb', selfWithdrawal: true, clock });
  const sourceRanges = { loadBalancerSourceRanges: ['203.0.113.0/24'] };
  await cluster.create('web', { spec: sourceRanges });
  await until(async () => expect(await cluster.annotation('web', metalLb)).toBeDefined());
  const address = (await cluster.annotation('web', metalLb)) ?? '';
  await cluster.announce('web', [address]);
  const lease = { namespace: 'kube-system', name: 'causeway-pool-contact' };
  await until(async () => expect(await cluster.client.find(leases, lease)).toBeDefined());
  isCut = true;
  offset = 61_000;
  await until(async () => expect(await cluster.annotation('web', metalLb)).toBeUndefined());
  await until(async () => expect((await cluster.read('web'))?.spec?.type).toBe('NodePort'));
  await until(async () => expect(await cluster.addressesOf('web')).toEqual([]));
  expect(await stateOf(address)).toMatchObject({ state: 'held' });
  // The next controller keeps the promise too.
  await cluster.stopController();
  await cluster.client.patchMerge(services, named('web'), { spec: { type: 'LoadBalancer' } });
  const later = { ...systemClock, wallTime: () => Date.now() + offset };
  cluster.startController({
    ipam: cutOff,
    announcer: 'metallb',
    selfWithdrawal: true,
    clock: later,
  });
  await until(async () => expect((await cluster.read('web'))?.spec?.type).toBe('NodePort'));
  isCut = false;
  await until(async () => expect(await cluster.annotation('web', metalLb)).toBe(address));
  await until(async () =>
    expect((await cluster.read('web'))?.spec).toMatchObject({
      type: 'LoadBalancer',
      ...sourceRanges,
    }),
  );
});

test.each(['metallb', 'kube-vip', 'plain'] as const)(
  'a reclaimed cluster that returns does not announce the addresses of others (%s)',
  async (announcer) => {
    cluster.startController({ ipam, announcer });
    await cluster.create('web');
    const shown = async () =>
      announcer === 'plain'
        ? (await cluster.addressesOf('web'))[0]
        : cluster.annotation('web', announcer === 'metallb' ? metalLb : kubeVip);
    await until(async () => expect(await shown()).toBeDefined());
    const before = await shown();
    if (announcer !== 'plain') await cluster.announce('web', [before ?? '']);
    await cluster.stopController();
    await giveToOthers(before ?? '');
    cluster.startController({ ipam, announcer });
    await until(async () => {
      const now = await shown();
      expect(now).toBeDefined();
      expect(now).not.toBe(before);
    });
    await until(async () => expect((await cluster.read('web'))?.spec?.type).toBe('LoadBalancer'));
    await until(() => expect(cluster.events.join('\n')).toContain(`no longer has ${before}`));
    expect(await stateOf((await shown()) ?? '')).toMatchObject({ state: 'held' });
  },
);

test('reservations without a Service are found and reported, and released only on request', async () => {
  cluster.startController({ ipam, announcer: 'plain' });
  for (const name of ['web', 'stays', 'lost']) {
    await cluster.create(name);
    await until(async () => expect(await cluster.addressesOf(name)).toHaveLength(1));
  }
  await cluster.stopController();
  const [leaked = ''] = await cluster.addressesOf('web');
  const [lost = ''] = await cluster.addressesOf('lost');
  await cluster.client.patchMerge(services, named('web'), { metadata: { finalizers: null } });
  await cluster.client.delete(services, named('web'));
  const uid = (await cluster.read('lost'))?.metadata?.uid ?? '';
  const free = { params: { ...here, uid } };
  await server.operator.call('free', free, never);
  const check = new LedgerCheck(
    cluster.client,
    new PoolLedger(ipam, here),
    new PendingReleases(cluster.client, 'kube-system'),
  );
  const found = await check.findings(never);
  expect(found.findings).toMatchObject([
    { kind: 'leaked', service: 'default/web', addresses: [leaked] },
    { kind: 'not-in-ledger', service: 'default/lost', addresses: [lost] },
  ]);
  // A controller reserves what the ledger lost, and leaves reservations without a Service alone.
  cluster.startController({ ipam, announcer: 'plain' });
  await until(async () => expect(await stateOf(lost)).toMatchObject({ state: 'held' }));
  expect(await stateOf(leaked)).toMatchObject({ state: 'held' });
  const repairs = await check.repair(await check.findings(never), false, never);
  expect(repairs).toMatchObject([
    { outcome: 'freed; the address is in quarantine before it is assigned again' },
  ]);
  expect(await restOf(leaked)).toBeGreaterThan(500_000);
  expect((await check.findings(never)).findings).toEqual([]);
});

test('a repair that would release most reservations of the cluster needs a confirmation', async () => {
  const body = { namespace: 'shop', name: 'web' };
  const params = { ...here, uid: 'of-another-cluster' };
  await ipam.call('ensureLoadBalancer', { params, body }, never);
  const check = new LedgerCheck(
    cluster.client,
    new PoolLedger(ipam, here),
    new PendingReleases(cluster.client, 'kube-system'),
  );
  const found = await check.findings(never);
  await expect(check.repair(found, false, never)).rejects.toThrow('nothing was repaired');
  expect(await check.repair(found, true, never)).toHaveLength(1);
});

test('with a node’s own address nothing is reserved, and no ledger is needed', async () => {
  const unreachable = new IpamClient({ urls: ['http://127.0.0.1:1'], clock: systemClock });
  cluster.startController({ ipam: unreachable, announcer: 'node' });
  await cluster.client.create(nodes, {
    metadata: { name: 'm1', labels: { 'node-role.kubernetes.io/control-plane': '' } },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  });
  await cluster.create('web');
  await until(async () => expect(await cluster.addressesOf('web')).toEqual(['10.0.0.1']));
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
  await unreachable.close();
});
