import { afterEach, beforeEach, expect, test } from 'vitest';
import { IpamClient } from '../../../src/ipam/api/client.ts';
import { services } from '../../../src/kube/resources.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { never, startServer, type ServerUnderTest } from '../ipam/server-under-test.ts';
import { ClusterUnderTest, named, until } from './cluster-under-test.ts';

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

/** When the address is given to others, in milliseconds from now. */
async function restOf(address: string): Promise<number> {
  return ((await stateOf(address)).until ?? 0) - Date.now();
}

test('a Service gets an address of the pool into its status, and gives it back to rest', async () => {
  cluster.startController({ ipam, announcer: 'plain' });
  await cluster.create('web');
  await until(async () => expect(await cluster.addressesOf('web')).toHaveLength(1));
  const [address = ''] = await cluster.addressesOf('web');
  expect(await stateOf(address)).toMatchObject({ state: 'held', cluster: 'blue' });
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
  expect(await stateOf(address)).toMatchObject({ state: 'resting' });
  // Nobody can see what stands behind a plain status, so it rests longer.
  expect(await restOf(address)).toBeGreaterThan(500_000);
});

test('MetalLB is told, writes the status itself, and is waited for before the address is freed', async () => {
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

test('an address is not freed while a Service that was taken away from us still shows it', async () => {
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

test('the ledger being down stops new addresses only', async () => {
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
