import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { parsePort } from '@causeway/base/address/port';
import type {
  Listener,
  LoadBalancer,
  Member,
  Pool,
} from '@causeway/openstack/load-balancing/resources';
import { gatherProject } from './gather-project.ts';

const call = { signal: new AbortController().signal };
const common = {
  name: '',
  description: '',
  projectId: 'p1',
  adminStateUp: true,
  provisioningStatus: 'ACTIVE',
  operatingStatus: 'ONLINE',
  tags: [],
} as const;

const balancer = (id: string, changes: Partial<LoadBalancer> = {}) =>
  ({
    ...common,
    id,
    vipAddress: undefined,
    listenerIds: [],
    ...changes,
  }) as unknown as LoadBalancer;
const listener = (id: string, changes: Partial<Listener> = {}) =>
  ({
    ...common,
    id,
    loadBalancerId: 'lb',
    protocol: 'TCP',
    port: parsePort(80),
    ...changes,
  }) as Listener;
const pool = (id: string, ...listenerIds: string[]) =>
  ({ ...common, id, protocol: 'TCP', listenerIds, memberIds: ['m'] }) as unknown as Pool;
const member: Member = {
  ...common,
  id: 'm',
  address: parseAddress('10.0.0.1'),
  port: parsePort(8080),
  subnetId: 's',
  weight: 1,
  backup: false,
  monitorAddress: undefined,
  monitorPort: undefined,
};

interface Lists {
  readonly loadBalancers: readonly LoadBalancer[];
  readonly listeners: readonly Listener[];
  readonly pools: readonly Pool[];
}

/** Answers with these lists, one set for each reading, and records the requests. */
function cloudWith(...readings: readonly Lists[]) {
  const asked: string[] = [];
  let reading = -1;
  const current = () => readings[Math.min(reading, readings.length - 1)];
  async function* list<T>(what: string, items: () => readonly T[] | undefined) {
    asked.push(what);
    yield* items() ?? [];
  }
  return {
    asked,
    loadBalancers: () => {
      reading += 1;
      return list('load balancers', () => current()?.loadBalancers);
    },
    listeners: () => list('listeners', () => current()?.listeners),
    pools: () => list('pools', () => current()?.pools),
    loadBalancer: async (id: string) => {
      asked.push(`load balancer ${id}`);
      return balancer(id);
    },
    listener: async (id: string) => {
      asked.push(`listener ${id}`);
      return listener(id);
    },
    pool: async (poolId: string) => {
      asked.push(`pool ${poolId}`);
      return pool(poolId);
    },
    members: (poolId: string) => list(`members of ${poolId}`, () => [member]),
  };
}

test('reads three lists, and the members of pools in use', async () => {
  const cloud = cloudWith({
    loadBalancers: [balancer('lb'), balancer('foreign', { projectId: 'p2' })],
    listeners: [listener('l1', { defaultPoolId: 'used' }), listener('l2', { port: parsePort(81) })],
    pools: [pool('used', 'l1'), pool('unused'), pool('l7', 'l1', 'l2')],
  });
  const { loadBalancers } = await gatherProject(cloud, 'p1', call);
  expect(cloud.asked).toEqual(['load balancers', 'listeners', 'pools', 'members of used']);
  expect(loadBalancers).toMatchObject([
    {
      id: 'lb',
      listeners: [
        { id: 'l1', l7PoolIds: ['l7'], pool: { id: 'used', members: [{ address: '10.0.0.1' }] } },
        { id: 'l2', l7PoolIds: ['l7'], pool: undefined },
      ],
    },
  ]);
});

test('sends one request for a project without load balancers', async () => {
  const cloud = cloudWith({ loadBalancers: [], listeners: [], pools: [] });
  expect(await gatherProject(cloud, 'p1', call)).toEqual({ loadBalancers: [], unclear: [] });
  expect(cloud.asked).toEqual(['load balancers']);
});

describe('lists that contradict each other', () => {
  const torn = {
    loadBalancers: [balancer('lb')],
    listeners: [listener('l1', { defaultPoolId: 'new' })],
    pools: [],
  };

  test('are read again', async () => {
    const cloud = cloudWith(torn, { ...torn, pools: [pool('new', 'l1')] });
    const { loadBalancers } = await gatherProject(cloud, 'p1', call);
    expect(loadBalancers[0]?.listeners[0]?.pool?.id).toBe('new');
  });

  test('fail the project after the second reading', async () => {
    await expect(gatherProject(cloudWith(torn), 'p1', call)).rejects.toThrow(
      'listener l1 sends to pool new, which is not in the list of pools',
    );
  });

  test('a listener that is in a load balancer but in no list', async () => {
    const named = { ...torn, loadBalancers: [balancer('lb', { listenerIds: ['l1', 'l2'] })] };
    const pools = [pool('new', 'l1')];
    await expect(gatherProject(cloudWith({ ...named, pools }), 'p1', call)).rejects.toThrow(
      'load balancer lb has listener l2, which is not in the list of listeners',
    );
    const listeners = [...torn.listeners, listener('l2', { port: parsePort(81) })];
    const cloud = cloudWith({ ...named, pools }, { ...named, pools, listeners });
    expect((await gatherProject(cloud, 'p1', call)).loadBalancers[0]?.listeners).toHaveLength(2);
  });

  test('requests members again that are in a pool but in no list', async () => {
    const cloud = cloudWith({ ...torn, pools: [pool('new', 'l1')] });
    let asked = 0;
    const late = {
      ...cloud,
      async *members() {
        asked += 1;
        if (asked > 1) yield member;
      },
    };
    const { loadBalancers } = await gatherProject(late, 'p1', call);
    expect(loadBalancers[0]?.listeners[0]?.pool?.members).toHaveLength(1);
    expect(cloud.asked).toEqual(['load balancers', 'listeners', 'pools', 'pool new']);
  });

  test('leaves a load balancer unclear if its members are never listed', async () => {
    const loadBalancers = [balancer('lb'), balancer('other')];
    const cloud = cloudWith({ ...torn, loadBalancers, pools: [pool('new', 'l1')] });
    const none = { ...cloud, async *members() {} };
    const why = 'pool new has member m, which is not in the list of members';
    expect(await gatherProject(none, 'p1', call)).toMatchObject({
      loadBalancers: [{ id: 'other' }],
      unclear: [{ id: 'lb', why }],
    });
  });

  test('a load balancer that is in its listener but in no list', async () => {
    const lost = { ...torn, pools: [pool('new', 'l1')], loadBalancers: [balancer('other')] };
    await expect(gatherProject(cloudWith(lost), 'p1', call)).rejects.toThrow(
      'listener l1 is of load balancer lb, which is not in the list of load balancers',
    );
    const others = {
      ...cloudWith(lost),
      loadBalancer: async () => balancer('lb', { projectId: 'p2' }),
    };
    expect(await gatherProject(others, 'p1', call)).toMatchObject({
      loadBalancers: [{ id: 'other', listeners: [] }],
    });
  });

  test('a pool that was deleted in between is a contradiction too', async () => {
    const whole = { ...torn, pools: [pool('new', 'l1')] };
    const cloud = cloudWith(whole, { loadBalancers: [balancer('lb')], listeners: [], pools: [] });
    const once = { ...cloud, members: () => failing() };
    expect(await gatherProject(once, 'p1', call)).toMatchObject({
      loadBalancers: [{ listeners: [] }],
    });
  });
});

describe('objects of another project', () => {
  const lists = {
    loadBalancers: [balancer('lb', { listenerIds: ['l1', 'l2'] }), balancer('other')],
    listeners: [listener('l1', { defaultPoolId: 'own' })],
    pools: [pool('own', 'l1')],
  };
  const foreign = { projectId: 'p2' };

  test('a listener and its pool are requested individually', async () => {
    const cloud = cloudWith(lists);
    const l2 = listener('l2', { port: parsePort(81), defaultPoolId: 'theirs', ...foreign });
    const seen = {
      ...cloud,
      listener: async () => l2,
      pool: async () => ({ ...pool('theirs', 'l2'), ...foreign }),
    };
    const { loadBalancers, unclear } = await gatherProject(seen, 'p1', call);
    expect(unclear).toEqual([]);
    expect(loadBalancers[0]?.listeners.map((one) => [one.id, one.pool?.id])).toEqual([
      ['l1', 'own'],
      ['l2', 'theirs'],
    ]);
    expect(cloud.asked.filter((asked) => asked === 'load balancers')).toHaveLength(1);
  });

  test.each(['not-found', 'forbidden'] as const)(
    'a listener that is %s leaves its load balancer unclear, and no other',
    async (code) => {
      const hidden = {
        ...cloudWith(lists),
        listener: async () => {
          throw new CausewayError(code, 'hidden');
        },
      };
      expect(await gatherProject(hidden, 'p1', call)).toMatchObject({
        loadBalancers: [{ id: 'other' }],
        unclear: [{ id: 'lb', why: expect.stringContaining('listener l2') as string }],
      });
    },
  );
});

// oxlint-disable-next-line require-yield
async function* failing(): AsyncGenerator<Member> {
  throw new CausewayError('not-found', 'no such pool');
}
