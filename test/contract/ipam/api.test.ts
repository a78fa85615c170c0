import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { request } from 'undici';
import type { IpamClient } from '../../../packages/causeway/src/ipam/api/client.ts';
import { waitFor } from '../../services/wait-for.ts';
import { never, startServer, type ServerUnderTest } from './server-under-test.ts';

let server: ServerUnderTest;
let operator: IpamClient;
const tokens: Record<string, string> = {};
const params = { site: 'edge', cluster: 'blue' };

beforeAll(async () => {
  server = await startServer();
  operator = server.operator;
  await operator.call(
    'setSite',
    {
      params: { site: 'edge' },
      body: { quarantineMs: 3_000, keepMs: 0, reason: 'test' },
    },
    never,
  );
  await operator.call(
    'setPool',
    {
      params: { site: 'edge', pool: 'public' },
      body: { addresses: ['192.0.2.0/29', '2001:db8::/120'], gateways: ['192.0.2.1'] },
    },
    never,
  );
  for (const cluster of ['blue', 'green']) {
    const controlPlane = cluster === 'blue' ? {} : undefined;
    const { token } = await operator.call(
      'createCluster',
      { params: { site: 'edge' }, body: { cluster, quota: 3, controlPlane } },
      never,
    );
    tokens[cluster] = token;
  }
});
afterAll(() => server.stop());

const as = (cluster: string) => server.client(tokens[cluster]);

describe('the API', () => {
  test('reserves, lists owners, and releases with the fencing token', async () => {
    const blue = as('blue');
    const body = { uid: 'u1', namespace: 'shop', name: 'web', families: [4 as const, 6 as const] };
    const answer = await blue.call('reserve', { params, body }, never);
    expect(await blue.call('reserve', { params, body }, never)).toEqual(answer);
    if (answer.state !== 'held') return;
    const { fencingToken } = answer.reservation;
    const [four] = answer.reservation.addresses;
    const address = four?.address ?? '';
    const asked = { params: { site: 'edge', address } };
    expect(await operator.call('whoHas', asked, never)).toMatchObject({
      state: 'held',
      cluster: 'blue',
      owners: [{ uid: 'u1', namespace: 'shop', name: 'web' }],
    });
    const toOthers = await as('green').call('whoHas', asked, never);
    expect(toOthers.state).toBe('held');
    expect(toOthers).not.toHaveProperty('cluster');
    expect(toOthers).not.toHaveProperty('owners');
    const free = (shown?: number) =>
      blue.call(
        'free',
        { params: { ...params, uid: 'u1' }, query: { fencingToken: shown, withdrawn: 'true' } },
        never,
      );
    await expect(free()).rejects.toMatchObject({ code: 'invalid' });
    await expect(free(fencingToken - 1)).rejects.toMatchObject({ reason: 'stale-fencing-token' });
    expect((await free(fencingToken)).freed).toContain(address);
    expect((await free(fencingToken)).freed).toEqual([]);
    expect(await operator.call('whoHas', asked, never)).toMatchObject({ state: 'resting' });
  });

  test('says what is wrong with a request, and why it is rejected', async () => {
    const blue = as('blue');
    const reserve = (body: object) =>
      blue.call('reserve', { params, body: { uid: 'u9', ...body } }, never);
    await expect(reserve({ addresses: ['192.0.2.1'] })).rejects.toMatchObject({
      code: 'invalid',
      reason: 'address-outside',
    });
    await expect(reserve({ addresses: ['010.0.0.1'] })).rejects.toMatchObject({ code: 'invalid' });
    await expect(reserve({ uid: '../x' })).rejects.toMatchObject({ code: 'invalid' });
    for (const uid of ['q1', 'q2']) await reserve({ uid });
    await expect(reserve({ uid: 'q3' })).rejects.toMatchObject({
      code: 'exhausted',
      reason: 'quota',
    });
  });

  test('waits for an address and is served when one leaves quarantine', async () => {
    const green = as('green');
    const where = { site: 'edge', cluster: 'green' };
    const reserve = (uid: string, waitMs?: number) =>
      green.call('reserve', { params: where, body: { uid, waitMs } }, never);
    // Blue has 3 of the 5 IPv4 addresses; two of u1's are in quarantine or free again.
    const held = [await reserve('g1', 60_000), await reserve('g2', 60_000)];
    expect(held).toMatchObject([{ state: 'held' }, { state: 'held' }]);
    await expect(reserve('g3')).rejects.toMatchObject({ reason: 'pool-exhausted' });
    expect(await reserve('g3', 1)).toEqual({ state: 'waiting', position: 1 });
    const waiting = reserve('g3', 60_000);
    const [first] = held;
    const fencingToken = first?.state === 'held' ? first.reservation.fencingToken : 0;
    await green.call(
      'free',
      { params: { ...where, uid: 'g1' }, query: { fencingToken, withdrawn: 'true' } },
      never,
    );
    expect(await waiting).toMatchObject({ state: 'held', reservation: { uid: 'g3' } });
  });

  test('a heartbeat makes a cluster healthy, and reports a reclaim', async () => {
    const blue = as('blue');
    const before = await blue.call('heartbeat', { params }, never);
    expect(before.addresses).toBe(3);
    expect(await blue.call('getCluster', { params }, never)).toMatchObject({ health: 'healthy' });
    await operator.call(
      'reclaimCluster',
      { params, body: { withdrawn: true, reason: 'lost' } },
      never,
    );
    const after = await blue.call('heartbeat', { params }, never);
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.addresses).toBe(0);
  });

  test('rotates a credential without an interruption, and revokes it at once', async () => {
    const old = as('blue');
    const rotated = await old.call(
      'rotateCredential',
      { params, body: { overlapMs: 60_000 } },
      never,
    );
    const fresh = server.client(rotated.token);
    await old.call('heartbeat', { params }, never);
    await fresh.call('heartbeat', { params }, never);
    const { id } = rotated.credential;
    await operator.call('revokeCredential', { params: { id }, query: { reason: 'leaked' } }, never);
    await expect(fresh.call('heartbeat', { params }, never)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const shown = await operator.call('listCredentials', { params: {} }, never);
    expect(JSON.stringify(shown)).not.toContain('hash');
  });

  test('creating a cluster again gives the same address and a new credential', async () => {
    const create = () =>
      operator.call(
        'createCluster',
        { params: { site: 'edge' }, body: { cluster: 'red', controlPlane: { families: [6] } } },
        never,
      );
    const one = await create();
    const two = await create();
    expect(two.controlPlane).toEqual(one.controlPlane);
    const red = { params: { site: 'edge', cluster: 'red' } };
    await expect(server.client(one.token).call('heartbeat', red, never)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    await server.client(two.token).call('heartbeat', red, never);
    await create();
    // It was used: a later first credential does not revoke it.
    await server.client(two.token).call('heartbeat', red, never);
  });

  test('keeps an audit log of all changes with user and reason', async () => {
    const { records } = await operator.call(
      'audit',
      { params: {}, query: { site: 'edge', cluster: 'blue', limit: 1000 } },
      never,
    );
    const actions = records.map(({ action }) => action);
    expect(actions).toContain('reserve');
    expect(actions).toContain('free');
    const reclaim = records.find(({ action }) => action === 'reclaim-cluster');
    expect(reclaim).toMatchObject({ actor: 'operator test', reason: 'lost' });
    const address = reclaim?.addresses?.[0];
    const history = await operator.call(
      'audit',
      { params: {}, query: { address, limit: 1 } },
      never,
    );
    expect(history.records[0]?.addresses).toContain(address);
    expect(history.next).toBeDefined();
  });

  test('describes itself', async () => {
    const answer = await request(`${server.replica.url}/openapi.json`);
    const document = (await answer.body.json()) as { paths: Record<string, object> };
    expect(Object.keys(document.paths)).toContain(
      '/v1/sites/{site}/clusters/{cluster}/reservations',
    );
  });

  test('answers invalid input with a problem, not with a stack', async () => {
    const send = async (path: string, body: string) => {
      const headers = {
        authorization: `Bearer ${server.operatorToken}`,
        'content-type': 'application/json',
      };
      const url = new URL(path, server.replica.url);
      const answer = await request(url, { method: 'PUT', body, headers });
      return { status: answer.statusCode, body: await answer.body.text() };
    };
    expect(await send('/v1/nothing', '{}')).toMatchObject({ status: 404 });
    expect(await send('/v1/sites/edge', '{not json')).toMatchObject({ status: 400 });
    expect(await send('/v1/sites/..%2Fx', '{}')).toMatchObject({ status: 400 });
    expect(
      await send('/v1/sites/edge', JSON.stringify({ reason: 'x'.repeat(2 ** 21) })),
    ).toMatchObject({ status: 400 });
  });

  test('rejects an invalid pool or site, and says what is wrong', async () => {
    const pool = { params: { site: 'edge', pool: 'other' } };
    const addresses = ['198.51.100.0/24'];
    // Values outside of the types, which another client may send.
    const announcer = 'metallbb' as 'metallb';
    await expect(
      operator.call('setPool', { ...pool, body: { addresses, announcer } }, never),
    ).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/"kube-vip"\|"metallb".*announcer/s) as string,
    });
    const site = { params: { site: 'edge' }, body: { unconfirmedQuarantineMs: 0 } };
    await expect(operator.call('setSite', site, never)).rejects.toMatchObject({
      code: 'invalid',
      hint: expect.stringContaining('at least 5 s') as string,
    });
  });

  test('shows the usage of a pool in each family', async () => {
    const { items } = await operator.call('listPools', { params: { site: 'edge' } }, never);
    const usage = items[0]?.usage;
    expect(usage?.families).toMatchObject([
      { family: 4, total: 5 },
      { family: 6, total: 255 },
    ]);
    expect(usage).toMatchObject({ total: 260, drained: 0 });
  });

  test('a server that stops rejects waiting requests', async () => {
    const stopping = await startServer();
    const call = stopping.operator.call.bind(stopping.operator);
    await call('setSite', { params: { site: 's' }, body: {} }, never);
    await call('createCluster', { params: { site: 's' }, body: { cluster: 'c' } }, never);
    const body = { uid: 'u', waitMs: 60_000 };
    const waiting = call('reserve', { params: { site: 's', cluster: 'c' }, body }, never);
    const outcome = waiting.catch((error: unknown) => error);
    await waitFor(
      'the waiter',
      () => stopping.replica.allocator.view.site('s')?.waiters.size === 1,
    );
    await stopping.replica.stop();
    expect(await outcome).toMatchObject({ code: 'unavailable' });
  });

  test('removes a cluster in one step', async () => {
    await operator.call(
      'createCluster',
      { params: { site: 'edge' }, body: { cluster: 'gone', controlPlane: { families: [6] } } },
      never,
    );
    const gone = { site: 'edge', cluster: 'gone' };
    const removed = await operator.call(
      'removeCluster',
      { params: gone, query: { withdrawn: 'true', reason: 'decommissioned' } },
      never,
    );
    expect(removed.addresses).toHaveLength(1);
    await expect(operator.call('getCluster', { params: gone }, never)).rejects.toMatchObject({
      code: 'not-found',
    });
  });
});
