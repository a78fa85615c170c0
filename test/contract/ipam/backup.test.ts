import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import {
  restoreBackup,
  suspendAll,
  takeBackup,
  type Backup,
} from '../../../packages/causeway/src/ipam/backup.ts';
import {
  cloudletImport,
  parseCloudletIps,
} from '../../../packages/causeway/src/ipam/cloudlet-ips.ts';
import { EtcdLedger } from '../../../packages/causeway/src/ipam/etcd-ledger.ts';
import type { Ledger } from '../../../packages/causeway/src/ipam/ledger.ts';
import { startReplica, type Replica } from '../../../packages/causeway/src/ipam/replica.ts';
import { SqliteLedger } from '../../../packages/causeway/src/ipam/sqlite-ledger.ts';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { discardLog } from '../../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../../packages/base/src/observability/metrics.ts';
import { startEtcdCluster, type EtcdCluster } from '../../services/etcd-cluster.ts';
import { isAvailable } from '../../services/missing.ts';
import { ensureProgram } from '../../services/programs.ts';
import { removeDirectory, scratchDirectory } from '../../services/scratch.ts';
import { never, startServer, type ServerUnderTest } from './server-under-test.ts';

const withEtcd = await isAvailable(() => ensureProgram('etcd'));
let directory = '';
let files = 0;
beforeAll(async () => {
  directory = await scratchDirectory('backup');
});
afterAll(() => removeDirectory(directory));
const newLedger = () => SqliteLedger.open(path.join(directory, `${(files += 1)}.db`));

const serve = (ledger: Ledger): Promise<Replica> =>
  startReplica({
    ledger,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
    host: '127.0.0.1',
    port: 0,
    rateLimit: { perSecond: 1_000, burst: 1_000 },
    auditRetentionMs: 1_000_000,
    signal: never,
  });
const clientOf = (replica: Replica, token: string) =>
  new IpamClient({ urls: [replica.url], token: () => Promise.resolve(token), clock: systemClock });
const params = { site: 'edge', cluster: 'blue' };

/** A site with two addresses and a cluster. */
async function prepare(server: ServerUnderTest): Promise<string> {
  const call = server.operator.call.bind(server.operator);
  await call('setSite', { params: { site: 'edge' }, body: { quarantineMs: 0 } }, never);
  const body = { addresses: ['192.0.2.1-192.0.2.2'] };
  await call('setPool', { params: { site: 'edge', pool: 'p' }, body }, never);
  const created = { params: { site: 'edge' }, body: { cluster: 'blue' } };
  return (await call('createCluster', created, never)).token;
}

async function addressOf(client: IpamClient, uid: string, used?: string) {
  const body = used === undefined ? { uid } : { uid, addresses: [used], inUse: true };
  const answer = await client.call('reserve', { params, body }, never);
  if (answer.state !== 'held') throw new Error('waiting');
  return {
    address: answer.reservation.addresses[0]?.address ?? '',
    fencingToken: answer.reservation.fencingToken,
  };
}

describe('a restored backup', () => {
  test('never assigns an address that was assigned after the backup', async () => {
    const server = await startServer();
    const token = await prepare(server);
    const blue = server.client(token);
    const known = await addressOf(blue, 'known');
    const backup = await server.operator.call('backup', { params: {} }, never);
    const later = await addressOf(blue, 'later');
    await server.stop();

    const ledger = await newLedger();
    await restoreBackup(
      ledger,
      JSON.parse(JSON.stringify(backup)) as Backup,
      'restore',
      Date.now(),
      never,
    );
    const replica = await serve(ledger);
    const again = clientOf(replica, token);
    const operator = clientOf(replica, server.operatorToken);
    // A known owner keeps its address; the same token works.
    expect((await addressOf(again, 'known', known.address)).address).toBe(known.address);
    // The only address that seems free is in use: it is assigned to no other owner, by name or not.
    await expect(addressOf(again, 'new')).rejects.toMatchObject({ reason: 'recovering' });
    const named = { params, body: { uid: 'new', addresses: [later.address] } };
    await expect(again.call('reserve', named, never)).rejects.toMatchObject({
      reason: 'recovering',
    });
    const used = await addressOf(again, 'later', later.address);
    expect(used.address).toBe(later.address);
    // A release from before the restore does not free it.
    const stale = {
      params: { ...params, uid: 'later' },
      query: { fencingToken: later.fencingToken },
    };
    await expect(again.call('free', stale, never)).rejects.toMatchObject({
      reason: 'stale-fencing-token',
    });
    await operator.call('resumeSite', { params: { site: 'edge' }, body: {} }, never);
    await expect(addressOf(again, 'new')).rejects.toMatchObject({ reason: 'pool-exhausted' });
    await Promise.all([again.close(), operator.close()]);
    await replica.stop();
  });

  test('goes only into an empty ledger', async () => {
    const server = await startServer();
    await prepare(server);
    const backup = await server.operator.call('backup', { params: {} }, never);
    const { ledger } = server.replica.allocator;
    await expect(restoreBackup(ledger, backup, 'restore', 0, never)).rejects.toMatchObject({
      code: 'conflict',
    });
    await server.stop();
  });
});

describe.skipIf(!withEtcd)('between ledgers', () => {
  let etcd: EtcdCluster;
  beforeAll(async () => {
    etcd = await startEtcdCluster({ members: 1 });
  });
  afterAll(() => etcd.stop());
  const etcdLedger = (root: string) =>
    new EtcdLedger({ endpoints: etcd.endpoints, clock: systemClock, root });

  async function move(source: Ledger, target: Ledger): Promise<void> {
    await suspendAll(source, 'moved', Date.now(), never);
    await restoreBackup(
      target,
      await takeBackup(source, Date.now(), never),
      'move',
      Date.now(),
      never,
    );
  }

  test('moves everything from SQLite to etcd and back, and closes the old ledger', async () => {
    const server = await startServer();
    const token = await prepare(server);
    const blue = server.client(token);
    const before = await addressOf(blue, 'u');
    const source = server.replica.allocator.ledger;
    const middle = etcdLedger('/moved/');
    await move(source, middle);
    await expect(addressOf(blue, 'v')).rejects.toMatchObject({ reason: 'moved' });
    await server.stop();
    const onEtcd = await serve(middle);
    const there = clientOf(onEtcd, token);
    expect(await addressOf(there, 'u')).toEqual(before);
    const second = await addressOf(there, 'v');
    const back = await newLedger();
    await move(onEtcd.allocator.ledger, back);
    await there.close();
    await onEtcd.stop();
    const home = await serve(back);
    const client = clientOf(home, token);
    expect(await addressOf(client, 'u')).toEqual(before);
    expect(await addressOf(client, 'v')).toEqual(second);
    await client.close();
    await home.stop();
  });

  test('a server continues after its etcd was replaced and restored to an earlier state', async () => {
    const open = () => etcdLedger('/first/');
    const server = await serve(open());
    const value = JSON.stringify({
      name: 'edge',
      pools: [],
      quarantineMs: 0,
      unconfirmedQuarantineMs: 0,
      keepMs: 0,
      lostAfterMs: 0,
    });
    const site = { conditions: [], writes: [{ key: 'state/site/edge', value }] };
    for (let count = 0; count < 5; count += 1) {
      await server.allocator.ledger.commit(site, never);
    }
    await etcd.stop();
    etcd = await startEtcdCluster({
      members: 1,
      clientPort: Number(new URL(etcd.endpoints[0] ?? '').port),
    });
    await expect
      .poll(() => server.problem(), { timeout: 60_000 })
      .toContain('restore a backup into it');
    const restored = open();
    await restored.commit(site, never);
    await restored.close();
    await expect.poll(() => server.problem(), { timeout: 60_000 }).toBeUndefined();
    expect(server.allocator.view.site('edge')?.site?.record.suspended?.as).toBe('recovering');
    await server.stop();
    // The ledger has the identity of the new etcd, so that further servers start on it.
    await (await serve(open())).stop();
  }, 180_000);
});

describe.skipIf(!withEtcd)('an etcd restored from a snapshot', () => {
  test('is not used until recovery is requested', async () => {
    const etcd = await startEtcdCluster({ members: 1 });
    const open = () =>
      new EtcdLedger({ endpoints: etcd.endpoints, clock: systemClock, root: '/r/' });
    await (await serve(open())).stop();
    // The content of a snapshot of another cluster.
    const ledger = open();
    const written = { key: 'state/identity', value: JSON.stringify({ identity: 'etcd 1' }) };
    await ledger.commit({ conditions: [], writes: [written] }, never);
    await expect(serve(open())).rejects.toMatchObject({ code: 'conflict' });
    await suspendAll(ledger, 'recovering', Date.now(), never);
    await (await serve(open())).stop();
    await ledger.close();
    await etcd.stop();
  });
});

describe('CloudletIPs', () => {
  const cloudlet = JSON.stringify({
    cloudlet: 'edge',
    ipPool: '192.0.2.10-192.0.2.20, 192.0.2.30',
    controlPlaneIpPool: '192.0.2.2-192.0.2.3',
    clusters: {
      blue: {
        controlPlaneIpv4: '192.0.2.2',
        loadBalancers: [
          { namespace: 'shop', name: 'web', ipv4: '192.0.2.11' },
          { namespace: 'shop', name: 'api', ipv4: '192.0.2.30' },
        ],
      },
    },
  });

  test('are imported, repeatedly if needed, and adopted by owners of the same name', async () => {
    const server = await startServer();
    const call = <T extends Parameters<typeof server.operator.call>[0]>(
      name: T,
      input: Parameters<typeof server.operator.call<T>>[1],
    ) => server.operator.call(name, input, never);
    await cloudletImport(parseCloudletIps(cloudlet), call);
    const tokens = await cloudletImport(parseCloudletIps(cloudlet), call);
    const blue = server.client(tokens['blue']);
    const body = { uid: 'real-uid', namespace: 'shop', name: 'web' };
    const answer = await blue.call('reserve', { params, body }, never);
    expect(answer).toMatchObject({ reservation: { addresses: [{ address: '192.0.2.11' }] } });
    const { items } = await blue.call('listReservations', { params }, never);
    const held = items.map(({ uid, name, addresses }) => [uid, name, addresses[0]?.address]);
    expect(held).toEqual([
      ['control-plane', undefined, '192.0.2.2'],
      [expect.stringMatching(/^imported:/), 'api', '192.0.2.30'],
      ['real-uid', 'web', '192.0.2.11'],
    ]);
    // Again, from a file in another order, after an operator has changed the pool.
    const pool = { params: { site: 'edge', pool: 'cloudlet' } };
    const gateways = { addresses: ['192.0.2.10-192.0.2.20'], gateways: ['192.0.2.20'] };
    await call('setPool', { ...pool, body: gateways });
    await call('drainPool', { ...pool, body: { drained: true } });
    const reversed = parseCloudletIps(cloudlet);
    reversed.clusters['blue']?.loadBalancers.reverse();
    await cloudletImport(reversed, call);
    expect((await blue.call('listReservations', { params }, never)).items).toEqual(items);
    const pools = await call('listPools', { params: { site: 'edge' } });
    expect(pools.items.find(({ name }) => name === 'cloudlet')).toMatchObject({
      gateways: ['192.0.2.20'],
      drained: true,
      addresses: ['192.0.2.10-192.0.2.20', '192.0.2.30'],
    });
    await server.stop();
  });

  test('with two owners of one address are rejected before the import', () => {
    const twice = cloudlet.replace('192.0.2.30"}', '192.0.2.11"}');
    expect(() => parseCloudletIps(twice)).toThrow(
      '192.0.2.11 is listed for both shop/web of blue and shop/api of blue',
    );
    const alsoControlPlane = cloudlet.replace('192.0.2.30"}', '192.0.2.2"}');
    expect(() => parseCloudletIps(alsoControlPlane)).toThrow('the control plane of blue');
    expect(() => parseCloudletIps('{"cloudlet":"edge"}')).toThrow('not a CloudletIPs object');
  });
});
