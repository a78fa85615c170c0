import { afterEach, beforeEach, expect, test } from 'vitest';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { CausewayError } from '../../../packages/base/src/error/causeway-error.ts';
import { services } from '../../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { waitFor } from '../../services/wait-for.ts';
import { never, startServer, type ServerUnderTest } from '../ipam/server-under-test.ts';
import { ClusterUnderTest, named, until } from './cluster-under-test.ts';

const site = 'edge';
const metalLb = 'metallb.io/loadBalancerIPs';
let server: ServerUnderTest;
let cluster: ClusterUnderTest;
let ipam: IpamClient;
/** Offset of the clocks of both sides, to skip waiting times. */
let offset: number;

beforeEach(async () => {
  offset = 0;
  const clock = { ...systemClock, wallTime: () => Date.now() + offset };
  server = await startServer({ clock, sweepEveryMs: 20 });
  const call = server.operator.call.bind(server.operator);
  const times = { quarantineMs: 0, unconfirmedQuarantineMs: 600_000, keepMs: 600_000 };
  await call('setSite', { params: { site }, body: times }, never);
  const body = { addresses: ['192.0.2.1-192.0.2.4', '2001:db8::1-2001:db8::4'] };
  await call('setPool', { params: { site, pool: 'public' }, body }, never);
  const { token } = await call(
    'createCluster',
    { params: { site }, body: { cluster: 'blue' } },
    never,
  );
  ipam = server.client(token);
  cluster = await ClusterUnderTest.start();
});

afterEach(async () => {
  await cluster.stop();
  await server.stop();
});

function stateOf(address: string) {
  return server.operator.call('whoHas', { params: { site, address } }, never);
}

/** The address for the announcer, or with `plain` the address in the status. */
async function addressOf(name: string, announcer: 'metallb' | 'plain'): Promise<string> {
  if (announcer === 'plain') return (await cluster.addressesOf(name)).join(',');
  return (await cluster.annotation(name, metalLb)) ?? '';
}

const created = async (name: string, announcer: 'metallb' | 'plain', more = {}) => {
  await cluster.create(name, more);
  return waitFor(
    `${name} to have an address`,
    async () => (await addressOf(name, announcer)) || undefined,
  );
};

test('a recreated Service gets its previous address, and no other Service gets it', async () => {
  cluster.startController({ ipam, announcer: 'plain' });
  const before = await created('web', 'plain');
  await cluster.client.delete(services, named('web'));
  await until(async () => expect(await cluster.read('web')).toBeUndefined());
  const others = [];
  for (const name of ['one', 'two', 'three']) others.push(await created(name, 'plain'));
  expect(others).not.toContain(before);
  // All others are reserved: only the one kept for it is left.
  expect(await created('web', 'plain')).toBe(before);
  expect(await stateOf(before)).toMatchObject({ state: 'held', cluster: 'blue' });
});

test.each(['metallb', 'plain'] as const)(
  'a Service that drops a family releases its address, and gets it again with the family (%s)',
  async (announcer) => {
    cluster.startController({ ipam, announcer });
    const both = await created('web', announcer, { spec: { ipFamilyPolicy: 'RequireDualStack' } });
    const [four = '', six = ''] = both.split(',');
    const shows = (addresses: string[]) =>
      announcer === 'plain' ? Promise.resolve() : cluster.announce('web', addresses);
    await shows([four, six]);
    const single = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] };
    await cluster.client.patchMerge(services, named('web'), { spec: single });
    await until(async () => expect(await addressOf('web', announcer)).toBe(four));
    if (announcer === 'metallb') expect(await stateOf(six)).toMatchObject({ state: 'held' });
    await shows([four]);
    await until(async () => expect(await stateOf(six)).toMatchObject({ state: 'resting' }));
    // It is not confirmed that this address alone is no longer announced.
    expect(((await stateOf(six)).until ?? 0) - Date.now()).toBeGreaterThan(500_000);
    expect(await stateOf(four)).toMatchObject({ state: 'held' });
    await until(async () =>
      expect((await cluster.read('web'))?.status?.conditions?.[0]?.status).toBe('True'),
    );
    const dual = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] };
    await cluster.client.patchMerge(services, named('web'), { spec: dual });
    await until(async () => expect(await addressOf('web', announcer)).toBe(both));
    expect(await stateOf(six)).toMatchObject({ state: 'held' });
    await cluster.client.delete(services, named('web'));
    await until(async () => expect(await cluster.read('web')).toBeUndefined());
    for (const address of [four, six]) {
      await until(async () => expect(await stateOf(address)).toMatchObject({ state: 'resting' }));
    }
  },
);

test('a request that waits for the address of a cluster that promised to withdraw gets it only after the withdrawal', async () => {
  const call = server.operator.call.bind(server.operator);
  const pool = { addresses: ['192.0.2.1'] };
  await call('setPool', { params: { site, pool: 'public' }, body: pool }, never);
  const selfWithdrawal = { afterMs: 60_000, graceMs: 60_000 };
  const here = { site, cluster: 'blue' };
  await call('configureCluster', { params: here, body: { selfWithdrawal } }, never);
  const { token } = await call(
    'createCluster',
    { params: { site }, body: { cluster: 'green' } },
    never,
  );
  let isCut = false;
  const cutOff: Pick<IpamClient, 'call'> = {
    call: (...args) =>
      isCut ? Promise.reject(new CausewayError('unavailable', 'cut off')) : ipam.call(...args),
  };
  let ahead = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + ahead };
  cluster.startController({ ipam: cutOff, announcer: 'metallb', selfWithdrawal: true, clock });
  const address = await created('web', 'metallb');
  await cluster.announce('web', [address]);
  // The promise has been stored.
  await until(async () =>
    expect((await call('getCluster', { params: here }, never)).withdrawsAfterMs).toBe(60_000),
  );
  const rival = server.client(token);
  const wait = () =>
    rival.call(
      'reserve',
      { params: { site, cluster: 'green' }, body: { uid: 'r', waitMs: 100 } },
      never,
    );
  expect(await wait()).toMatchObject({ state: 'waiting' });

  isCut = true;
  ahead = 61_000;
  offset = 61_000;
  await until(async () => expect(await cluster.annotation('web', metalLb)).toBeUndefined());
  await until(async () => expect((await cluster.read('web'))?.spec?.type).toBe('NodePort'));
  // It is withdrawn, and the grace time is not over.
  expect(await wait()).toMatchObject({ state: 'waiting' });
  offset = 121_000;
  await waitFor(
    'the reclaim',
    async () => (await call('getCluster', { params: here }, never)).addresses === 0,
  );
  await waitFor('the rival’s turn', async () => (await wait()).state === 'held');
  expect(await stateOf(address)).toMatchObject({ state: 'held', cluster: 'green' });

  // When it returns, it announces no address of the other cluster.
  isCut = false;
  await until(() => expect(cluster.events.join('\n')).toContain(`no longer has ${address}`));
  expect(await cluster.annotation('web', metalLb)).toBeUndefined();
  expect((await cluster.read('web'))?.spec?.type).toBe('NodePort');
  expect(await stateOf(address)).toMatchObject({ state: 'held', cluster: 'green' });
});
