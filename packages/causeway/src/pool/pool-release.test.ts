import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { leases } from '@causeway/kubernetes/objects/resources';
import { systemClock } from '@causeway/base/time/clock';
import { discardLog } from '@causeway/base/observability/log';
import { memoryKubeClient } from '@causeway/fake-kubernetes/memory-client.testing';
import type { ProviderContext } from '../services/provider.ts';
import type { AnnouncerName } from './announcer.ts';
import type { Holding } from './holding.ts';
import { PendingReleases } from './pending-releases.ts';
import type { PoolLedger } from './pool-ledger.ts';
import { nextStep, PoolRelease, type ReleaseStep } from './pool-release.ts';
import { WithdrawalWatch, type Sighting } from './withdrawal.ts';

const address = parseAddress('192.0.2.7');

function holding(announcer: AnnouncerName, stoppedAt?: number): Holding {
  return { uid: 'u', addresses: [{ address }], fence: 1, announcer, stoppedAt };
}

function service(more: { deleted?: boolean; type?: 'LoadBalancer' | 'NodePort'; shows?: boolean }) {
  const { deleted = true, type = 'NodePort', shows = false } = more;
  return {
    metadata: { uid: 'u', ...(deleted ? { deletionTimestamp: '2026-11-15T00:00:00Z' } : {}) },
    spec: { type },
    status: { loadBalancer: { ingress: shows ? [{ ip: address }] : [] } },
  } satisfies Service;
}

const freed = (withdrawn: boolean): ReleaseStep => ({ kind: 'free', withdrawn });
const readAgain = expect.objectContaining({ kind: 'look-again' }) as ReleaseStep;
const stuck = expect.objectContaining({ kind: 'look-again', isStuck: true }) as ReleaseStep;

test.each<[string, Service | undefined, Holding | undefined, Sighting, ReleaseStep]>([
  ['nothing is known', service({}), undefined, 'unknown', freed(false)],
  ['it is gone with all', undefined, holding('metallb'), 'unknown', freed(false)],
  ['it is gone and seen withdrawn', undefined, holding('metallb'), 'withdrawn', freed(true)],
  [
    'not stopped yet',
    service({ type: 'LoadBalancer' }),
    holding('metallb'),
    'withdrawn',
    { kind: 'stop' },
  ],
  [
    'made a load balancer again',
    service({ type: 'LoadBalancer' }),
    holding('metallb', 100),
    'withdrawn',
    { kind: 'stop' },
  ],
  ['stopped, still announced', service({}), holding('cilium', 100), 'announced', readAgain],
  [
    'announced for too long after: the Service goes, its address is looked after',
    service({}),
    holding('cilium', -1000),
    'announced',
    { kind: 'let-go', announcer: 'cilium' },
  ],
  [
    'announced for too long after, and it stays',
    service({ deleted: false }),
    holding('metallb', -1000),
    'announced',
    stuck,
  ],
  [
    'of one that stops for nothing but its end',
    service({ type: 'LoadBalancer', shows: true }),
    holding('kube-vip'),
    'announced',
    { kind: 'let-go', announcer: 'kube-vip' },
  ],
  [
    'of such a one, no load balancer any more',
    service({ deleted: false }),
    holding('kube-vip', -1000),
    'unknown',
    stuck,
  ],
  [
    'of such a one, and seen to have stopped all the same',
    service({ deleted: false }),
    holding('kube-vip', -1000),
    'withdrawn',
    freed(true),
  ],
  ['stopped and seen withdrawn', service({}), holding('cilium', 100), 'withdrawn', freed(true)],
  ['stopped, and nothing to be seen', service({}), holding('purelb', 100), 'unknown', freed(false)],
  [
    'taken away from us and still shown',
    service({ deleted: false, type: 'LoadBalancer', shows: true }),
    holding('kube-vip', -100_000),
    'unknown',
    readAgain,
  ],
  [
    'taken away from us and shown no more',
    service({ deleted: false, type: 'LoadBalancer' }),
    holding('metallb', 100),
    'withdrawn',
    freed(true),
  ],
  [
    'a plain status that shows it',
    service({ type: 'LoadBalancer', shows: true }),
    holding('plain'),
    'unknown',
    { kind: 'leave-status' },
  ],
  [
    'a plain status that shows it no more',
    service({ type: 'LoadBalancer' }),
    holding('plain'),
    'unknown',
    freed(false),
  ],
])('%s', (_what, present, held, sighting, expected) => {
  expect(nextStep(present, held, sighting, 200, 1000)).toEqual(expected);
});

test('what a Service that vanished held is looked after where somebody announces it', async () => {
  const client = memoryKubeClient();
  const departures = new PendingReleases(client, 'kube-system');
  const freedNow: unknown[] = [];
  const ledger = {
    delete: (...args: unknown[]) => Promise.resolve(void freedNow.push(args.slice(0, 3))),
  } as unknown as PoolLedger;
  const { signal } = new AbortController();
  const release = new PoolRelease({
    ledger,
    departures,
    watch: new WithdrawalWatch(client),
    clock: systemClock,
    withdrawalMs: 1_000,
  });
  const context = { signal, log: discardLog } as unknown as ProviderContext;
  const owner = { namespace: 'default', name: 'web', uid: 'u' };
  const spec = { holderIdentity: 'node-1', leaseTransitions: 4 };
  const metadata = { namespace: 'kube-system', name: 'cilium-l2announce-default-web' };
  await client.create(leases, { metadata, spec }, { signal });

  const last = { fence: 7, announcer: 'cilium' } as const;
  expect(await release.release(owner, undefined, last, context)).toEqual({ kind: 'gone' });
  expect(freedNow).toEqual([]);
  expect(await departures.list(signal)).toMatchObject([
    { uid: 'u', fence: 7, announced: { by: 'cilium', wasSeen: true, term: { number: 4 } } },
  ]);

  // Behind a plain status nothing can be seen: it rests instead.
  const plain = { fence: 8, announcer: 'plain' } as const;
  await release.release({ ...owner, uid: 'v' }, undefined, plain, context);
  expect(freedNow).toEqual([['v', 8, false]]);
});
