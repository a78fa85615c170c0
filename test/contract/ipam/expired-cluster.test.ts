import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../packages/base/src/time/clock.ts';
import { waitFor } from '../../services/wait-for.ts';
import { never, startServer, type ServerUnderTest } from './server-under-test.ts';

let server: ServerUnderTest;
let offset = 0;
const tokens: Record<string, string> = {};
const on = (cluster: string) => ({ params: { site: 'edge', cluster } });

beforeAll(async () => {
  const clock = { ...systemClock, wallTime: () => Date.now() + offset };
  server = await startServer({ clock, sweepEveryMs: 20 });
  const { operator } = server;
  const times = { quarantineMs: 0, lostAfterMs: 60_000 };
  await operator.call('setSite', { params: { site: 'edge' }, body: times }, never);
  const body = { addresses: ['192.0.2.1-192.0.2.2'] };
  await operator.call('setPool', { params: { site: 'edge', pool: 'p' }, body }, never);
  for (const cluster of ['promises', 'does-not', 'waits']) {
    // The operator allows reclaiming from both; only one has promised.
    const selfWithdrawal = { afterMs: 100_000, graceMs: 20_000 };
    const created = await operator.call(
      'createCluster',
      { params: { site: 'edge' }, body: { cluster, selfWithdrawal } },
      never,
    );
    tokens[cluster] = created.token;
  }
});
afterAll(() => server.stop());

describe('clusters without heartbeats', () => {
  test('are lost and keep their addresses; only a cluster that promised to withdraw loses them, in time', async () => {
    const promises = server.client(tokens['promises']);
    const doesNot = server.client(tokens['does-not']);
    const waits = server.client(tokens['waits']);
    const kept = await doesNot.call('reserve', { ...on('does-not'), body: { uid: 'u' } }, never);
    await promises.call('reserve', { ...on('promises'), body: { uid: 'u' } }, never);
    const promise = { ...on('promises'), body: { withdrawsAfterMs: 100_000 } };
    const before = await promises.call('heartbeat', promise, never);
    await doesNot.call('heartbeat', on('does-not'), never);
    const health = async () => {
      const { items } = await server.operator.call(
        'listClusters',
        { params: { site: 'edge' } },
        never,
      );
      return Object.fromEntries(items.map((item) => [item.cluster, [item.health, item.addresses]]));
    };

    offset += 110_000;
    expect(await health()).toEqual({
      promises: ['lost', 1],
      'does-not': ['lost', 1],
      waits: ['unknown', 0],
    });
    await expect(
      waits.call('reserve', { ...on('waits'), body: { uid: 'w' } }, never),
    ).rejects.toMatchObject({ reason: 'pool-exhausted' });

    offset += 10_001;
    const answer = await waitFor('the reclaim', async () => {
      const body = { uid: 'w' };
      return waits.call('reserve', { ...on('waits'), body }, never).catch(() => undefined);
    });
    expect(answer.state).toBe('held');
    expect(await health()).toEqual({
      promises: ['lost', 0],
      'does-not': ['lost', 1],
      waits: ['unknown', 1],
    });
    expect(await doesNot.call('reserve', { ...on('does-not'), body: { uid: 'u' } }, never)).toEqual(
      kept,
    );

    // It comes back: the new epoch says that it holds nothing, and it may reserve again.
    const after = await promises.call('heartbeat', on('promises'), never);
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.addresses).toBe(0);
    await expect(
      promises.call('reserve', { ...on('promises'), body: { uid: 'u' } }, never),
    ).rejects.toMatchObject({ reason: 'pool-exhausted' });
  });

  test('accepts many heartbeats at once', async () => {
    const clients = await Promise.all(
      Array.from({ length: 150 }, async (_, index) => {
        const cluster = `many-${index}`;
        const created = { params: { site: 'edge' }, body: { cluster } };
        const { token } = await server.operator.call('createCluster', created, never);
        return { cluster, client: server.client(token) };
      }),
    );
    await Promise.all(
      clients.map(({ cluster, client }) => client.call('heartbeat', on(cluster), never)),
    );
    const { items } = await server.operator.call(
      'listClusters',
      { params: { site: 'edge' } },
      never,
    );
    const heard = items.filter(
      ({ cluster, health }) => cluster.startsWith('many-') && health === 'healthy',
    );
    expect(heard).toHaveLength(150);
  });
});
