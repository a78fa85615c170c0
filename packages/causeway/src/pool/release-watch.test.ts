import { beforeEach, expect, test } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { leases } from '@causeway/kubernetes/objects/resources';
import { discardLog } from '@causeway/base/observability/log';
import { noMetrics } from '@causeway/base/observability/metrics';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import { Refusal } from '../ipam/refusal.ts';
import { ReleaseWatch } from './release-watch.ts';
import { PendingReleases, type PendingRelease } from './pending-releases.ts';
import type { PoolLedger } from './pool-ledger.ts';
import { WithdrawalWatch } from './withdrawal.ts';

const { signal } = new AbortController();
const web = { namespace: 'default', name: 'web' };
const announced = { by: 'kube-vip', ...web, wasSeen: true } as const;

const staleFencingToken = 3;

let freed: unknown[];
let events: string[];
let clock: SimulatedClock;
let present: Map<string, Service>;
let releases: PendingReleases;
let watch: ReleaseWatch;
let hold: (holderIdentity: string, leaseTransitions?: number) => Promise<unknown>;

beforeEach(() => {
  const client = memoryKubeClient();
  freed = [];
  events = [];
  clock = new SimulatedClock();
  present = new Map();
  releases = new PendingReleases(client, 'kube-system');
  const ledger = {
    delete: (...args: unknown[]) => {
      if (args[0] === 'refused') throw new Refusal('gone', 'moved', 'moved');
      if (args[1] === staleFencingToken)
        throw new Refusal('conflict', 'stale-fencing-token', 'reserved anew');
      freed.push(args.slice(0, 3));
      return Promise.resolve();
    },
    reservations: () => Promise.resolve([{ uid: 'u', fencingToken: 9 }]),
  } as unknown as PoolLedger;
  watch = new ReleaseWatch({
    releases,
    ledger,
    clock,
    log: discardLog,
    metrics: noMetrics,
    watch: new WithdrawalWatch(client),
  });
  hold = (holderIdentity, leaseTransitions = 0) => {
    const acquireTime = new Date(leaseTransitions * 1000).toISOString();
    return client.apply(
      leases,
      {
        metadata: { namespace: 'default', name: 'kubevip-web' },
        spec: { holderIdentity, leaseTransitions, acquireTime },
      },
      { fieldManager: 'announcer', force: true },
    );
  };
});

const catchUp = () =>
  watch.catchUp(
    {
      objects: present,
      recordEvent: ({ uid }, reason, message) => events.push(`${uid} ${reason}: ${message}`),
    },
    signal,
  );
const addPending = (more: Partial<PendingRelease> = {}) =>
  releases.add({ uid: 'u', fencingToken: 7, withdrawn: false, ...more }, signal);

test('keeps a reservation while it is seen announced, then frees it as withdrawn', async () => {
  await hold('node-1');
  await addPending({ announced });
  expect(await catchUp()).toBe(1);
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
  await hold('');
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
  expect(await releases.list(signal)).toEqual([]);
});

test('uses what an earlier controller saw, and frees an address as not withdrawn if it was never seen', async () => {
  await addPending({ announced });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
  await addPending({ announced: { ...announced, wasSeen: false } });
  expect(await catchUp()).toBe(0);
  expect(freed.at(-1)).toEqual(['u', 7, false]);
});

test('frees nothing while the Service exists; a Service with the same name and another UID does not count', async () => {
  await addPending({ announced });
  present.set('default/web', { metadata: { ...web, uid: 'u' } });
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
  present.set('default/web', { metadata: { ...web, uid: 'anew' } });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
});

test("frees with the stored fencing token, or with the ledger's, after the ledger was unreachable", async () => {
  await addPending({ fencingToken: undefined, withdrawn: true });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 9, true]]);
});

test("frees with the ledger's fencing token after a renewed reservation", async () => {
  await addPending({ fencingToken: staleFencingToken });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 9, false]]);
});

test('a release that the ledger refuses does not block others, and is tried again', async () => {
  await addPending({ uid: 'refused' });
  await addPending({ uid: 'v' });
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([['v', 7, false]]);
  expect(await releases.list(signal)).toMatchObject([{ uid: 'refused' }]);
});

const term = { holder: 'node-1', since: new Date(0).toISOString(), number: 0 };

test.each([
  {
    what: 'the same node released the lease and took it again',
    holder: 'node-1',
    to: 1,
    seen: true,
  },
  { what: 'another node took the lease', holder: 'node-2', to: 1, seen: false },
  { what: 'the node took the lease back from another node', holder: 'node-1', to: 2, seen: false },
])(
  'a lease of a recreated Service with the same name does not block the release: $what',
  async (row) => {
    await hold('node-1');
    await addPending({ announced: { ...announced, term } });
    expect(await catchUp()).toBe(1);
    present.set('default/web', { metadata: { ...web, uid: 'anew' } });
    // The lease is unchanged: kube-vip has not noticed the deletion yet.
    expect(await catchUp()).toBe(1);
    await hold(row.holder, row.to);
    expect(await catchUp()).toBe(0);
    expect(freed).toEqual([['u', 7, row.seen]]);
  },
);

test('a lease that changes while the Service exists belongs to that Service', async () => {
  await hold('node-1');
  await addPending({ announced: { ...announced, term } });
  present.set('default/web', { metadata: { ...web, uid: 'u' } });
  await hold('node-2', 1);
  expect(await catchUp()).toBe(1);
  present.set('default/web', { metadata: { ...web, uid: 'anew' } });
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
  await hold('node-2', 2);
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
});

test('does not free an address because a lease changes where no Service has the name', async () => {
  await hold('node-1');
  await addPending({ announced: { ...announced, term } });
  await hold('node-2', 1);
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
});

test('records an Event once for an address that is announced long after the deletion, and not while the Service exists', async () => {
  await hold('node-1');
  await addPending({ announced });
  present.set('default/web', { metadata: { ...web, uid: 'u' } });
  const wait = async () => {
    await clock.advance(120_000);
    expect(await catchUp()).toBe(1);
  };
  expect(await catchUp()).toBe(1);
  await wait();
  expect(events).toEqual([]);
  present.clear();
  await wait();
  await wait();
  expect(events).toEqual([expect.stringMatching(/^u StillAnnounced: .* kube-vip .*--uid u$/)]);
});
