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

const staleFence = 3;

let freed: unknown[];
let events: string[];
let clock: SimulatedClock;
let present: Map<string, Service>;
let departures: PendingReleases;
let watch: ReleaseWatch;
let hold: (holderIdentity: string, leaseTransitions?: number) => Promise<unknown>;

beforeEach(() => {
  const client = memoryKubeClient();
  freed = [];
  events = [];
  clock = new SimulatedClock();
  present = new Map();
  departures = new PendingReleases(client, 'kube-system');
  const ledger = {
    delete: (...args: unknown[]) => {
      if (args[0] === 'refused') throw new Refusal('gone', 'moved', 'moved');
      if (args[1] === staleFence) throw new Refusal('conflict', 'stale-fence', 'claimed anew');
      freed.push(args.slice(0, 3));
      return Promise.resolve();
    },
    reservations: () => Promise.resolve([{ uid: 'u', fence: 9 }]),
  } as unknown as PoolLedger;
  watch = new ReleaseWatch({
    departures,
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
      services: present,
      recordEvent: ({ uid }, _type, reason, message) => events.push(`${uid} ${reason}: ${message}`),
    },
    signal,
  );
const depart = (more: Partial<PendingRelease> = {}) =>
  departures.add({ uid: 'u', fence: 7, withdrawn: false, ...more }, signal);

test('who is seen announced is kept until that is over, and then freed as withdrawn', async () => {
  await hold('node-1');
  await depart({ announced });
  expect(await catchUp()).toBe(1);
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
  await hold('');
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
  expect(await departures.list(signal)).toEqual([]);
});

test('what a controller before saw is remembered; what nobody saw is freed as such', async () => {
  await depart({ announced });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
  await depart({ announced: { ...announced, wasSeen: false } });
  expect(await catchUp()).toBe(0);
  expect(freed.at(-1)).toEqual(['u', 7, false]);
});

test('nothing is freed while the Service is still there; another of its name is another', async () => {
  await depart({ announced });
  present.set('default/web', { metadata: { ...web, uid: 'u' } });
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
  present.set('default/web', { metadata: { ...web, uid: 'anew' } });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, true]]);
});

test('whom the ledger could not be told of is freed as it was noted; it knows the fence', async () => {
  await depart({ fence: undefined, withdrawn: true });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 9, true]]);
});

test('who was claimed anew is freed with the fence that the ledger knows', async () => {
  await depart({ fence: staleFence });
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 9, false]]);
});

test('one that the ledger refuses keeps nobody behind it, and is tried again', async () => {
  await depart({ uid: 'refused' });
  await depart({ uid: 'v' });
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([['v', 7, false]]);
  expect(await departures.list(signal)).toMatchObject([{ uid: 'refused' }]);
});

const term = { holder: 'node-1', since: new Date(0).toISOString(), number: 0 };

test.each([
  { what: 'the same node gave the lease up and took it anew', holder: 'node-1', to: 1, seen: true },
  { what: 'another node took the lease', holder: 'node-2', to: 1, seen: false },
  { what: 'the node took it back from another one', holder: 'node-1', to: 2, seen: false },
])('the lease of a Service recreated under the name keeps nobody: $what', async (row) => {
  await hold('node-1');
  await depart({ announced: { ...announced, term } });
  expect(await catchUp()).toBe(1);
  present.set('default/web', { metadata: { ...web, uid: 'anew' } });
  // Held as it was: kube-vip has not heard yet that the first one is gone.
  expect(await catchUp()).toBe(1);
  await hold(row.holder, row.to);
  expect(await catchUp()).toBe(0);
  expect(freed).toEqual([['u', 7, row.seen]]);
});

test('a lease that moves while the Service is still there is its own all the same', async () => {
  await hold('node-1');
  await depart({ announced: { ...announced, term } });
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

test('a lease that moves where no Service has the name is no reason to free anything', async () => {
  await hold('node-1');
  await depart({ announced: { ...announced, term } });
  await hold('node-2', 1);
  expect(await catchUp()).toBe(1);
  expect(freed).toEqual([]);
});

test('who is announced long after its end is named once, and not while it is still there', async () => {
  await hold('node-1');
  await depart({ announced });
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
