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
  return { uid: 'u', addresses: [{ address }], fencingToken: 1, announcer, stoppedAt };
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
const recheck = expect.objectContaining({ kind: 'recheck' }) as ReleaseStep;
const stuck = expect.objectContaining({ kind: 'recheck', isStuck: true }) as ReleaseStep;

test.each<[string, Service | undefined, Holding | undefined, Sighting, ReleaseStep]>([
  ['without a holding', service({}), undefined, 'unknown', freed(false)],
  ['the Service does not exist', undefined, holding('metallb'), 'unknown', freed(false)],
  [
    'the Service does not exist, seen withdrawn',
    undefined,
    holding('metallb'),
    'withdrawn',
    freed(true),
  ],
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
  ['stopped, still announced', service({}), holding('cilium', 100), 'announced', recheck],
  [
    'announced for too long: a deleted Service is let go',
    service({}),
    holding('cilium', -1000),
    'announced',
    { kind: 'let-go', announcer: 'cilium' },
  ],
  [
    'announced for too long: the Service stays',
    service({ deleted: false }),
    holding('metallb', -1000),
    'announced',
    stuck,
  ],
  [
    'an announcer that stops only on deletion',
    service({ type: 'LoadBalancer', shows: true }),
    holding('kube-vip'),
    'announced',
    { kind: 'let-go', announcer: 'kube-vip' },
  ],
  [
    'such an announcer, no load balancer any more',
    service({ deleted: false }),
    holding('kube-vip', -1000),
    'unknown',
    stuck,
  ],
  [
    'such an announcer, seen withdrawn',
    service({ deleted: false }),
    holding('kube-vip', -1000),
    'withdrawn',
    freed(true),
  ],
  ['stopped and seen withdrawn', service({}), holding('cilium', 100), 'withdrawn', freed(true)],
  ['stopped, sighting unknown', service({}), holding('purelb', 100), 'unknown', freed(false)],
  [
    'handed over and still shown',
    service({ deleted: false, type: 'LoadBalancer', shows: true }),
    holding('kube-vip', -100_000),
    'unknown',
    recheck,
  ],
  [
    'handed over and no longer shown',
    service({ deleted: false, type: 'LoadBalancer' }),
    holding('metallb', 100),
    'withdrawn',
    freed(true),
  ],
  [
    'a plain status that shows the address',
    service({ type: 'LoadBalancer', shows: true }),
    holding('plain'),
    'unknown',
    { kind: 'leave-status' },
  ],
  [
    'a plain status that no longer shows the address',
    service({ type: 'LoadBalancer' }),
    holding('plain'),
    'unknown',
    freed(false),
  ],
])('%s', (_what, present, held, sighting, expected) => {
  expect(nextStep(present, held, sighting, 200, 1000)).toEqual(expected);
});

test('keeps the reservation of a suddenly deleted Service while it may be announced', async () => {
  const client = memoryKubeClient();
  const releases = new PendingReleases(client, 'kube-system');
  const freedNow: unknown[] = [];
  const ledger = {
    delete: (...args: unknown[]) => Promise.resolve(void freedNow.push(args.slice(0, 3))),
  } as unknown as PoolLedger;
  const { signal } = new AbortController();
  const release = new PoolRelease({
    ledger,
    releases,
    watch: new WithdrawalWatch(client),
    clock: systemClock,
    withdrawalMs: 1_000,
  });
  const context = { signal, log: discardLog } as unknown as ProviderContext;
  const owner = { namespace: 'default', name: 'web', uid: 'u' };
  const spec = { holderIdentity: 'node-1', leaseTransitions: 4 };
  const metadata = { namespace: 'kube-system', name: 'cilium-l2announce-default-web' };
  await client.create(leases, { metadata, spec }, { signal });

  const last = { fencingToken: 7, announcer: 'cilium' } as const;
  expect(await release.release(owner, undefined, last, context)).toEqual({ kind: 'gone' });
  expect(freedNow).toEqual([]);
  expect(await releases.list(signal)).toMatchObject([
    { uid: 'u', fencingToken: 7, announced: { by: 'cilium', wasSeen: true, term: { number: 4 } } },
  ]);

  // With a plain status nothing can be seen, so the address goes to quarantine instead.
  const plain = { fencingToken: 8, announcer: 'plain' } as const;
  await release.release({ ...owner, uid: 'v' }, undefined, plain, context);
  expect(freedNow).toEqual([['v', 8, false]]);
});
