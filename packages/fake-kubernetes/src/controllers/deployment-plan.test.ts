import { constantFrom, assert as forAll, integer, property, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Deployment, ReplicaSet } from '../resources/workload-type.ts';
import { planRollout, rolloutMargins, type Rollout } from './deployment-plan.ts';

const metadata = (name: string) => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '',
});

function set(name: string, replicas: number, available: number): ReplicaSet {
  const spec = { replicas, selector: {}, template: { spec: { containers: [] } } };
  const status = { replicas, availableReplicas: available };
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: metadata(name), spec, status };
}

function deployment(replicas: number, strategy: Deployment['spec']['strategy']): Deployment {
  const spec = { replicas, selector: {}, template: { spec: { containers: [] } }, strategy };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata('d'), spec };
}

const rolling = (maxSurge: number | string, maxUnavailable: number | string) => ({
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge, maxUnavailable },
});

function rollout(
  owner: Deployment,
  current: ReplicaSet,
  earlier: readonly ReplicaSet[] = [],
  hasEarlierPods = false,
): Rollout {
  return { deployment: owner, current, earlier, hasEarlierPods };
}

describe('planRollout', () => {
  test.each<readonly [string, Rollout, Record<string, number>]>([
    [
      'fills the first set',
      rollout(deployment(3, rolling('25%', '25%')), set('new', 0, 0)),
      { new: 3 },
    ],
    [
      'plans nothing when all replicas are available',
      rollout(deployment(3, rolling('25%', '25%')), set('new', 3, 3)),
      {},
    ],
    [
      'adds one pod to three old pods',
      rollout(deployment(3, rolling('25%', '25%')), set('new', 0, 0), [set('old', 3, 3)]),
      { new: 1 },
    ],
    [
      'waits while the new pod starts',
      rollout(deployment(3, rolling('25%', '25%')), set('new', 1, 0), [set('old', 3, 3)]),
      {},
    ],
    [
      'removes an old pod for each available new pod',
      rollout(deployment(3, rolling('25%', '25%')), set('new', 1, 1), [set('old', 3, 3)]),
      { old: 2 },
    ],
    [
      'removes unavailable old pods immediately',
      rollout(deployment(4, rolling(1, 1)), set('new', 1, 0), [set('old', 4, 1)]),
      { old: 3 },
    ],
    [
      'removes an old pod first without surge',
      rollout(deployment(3, rolling(0, 1)), set('new', 0, 0), [set('old', 3, 3)]),
      { old: 2 },
    ],
    [
      'scales the old set down before it recreates',
      rollout(deployment(2, { type: 'Recreate' }), set('new', 0, 0), [set('old', 2, 2)]),
      { old: 0 },
    ],
    [
      'waits for the old pods before it recreates',
      rollout(deployment(2, { type: 'Recreate' }), set('new', 0, 0), [set('old', 0, 0)], true),
      {},
    ],
    [
      'recreates after the old pods are deleted',
      rollout(deployment(2, { type: 'Recreate' }), set('new', 0, 0), [set('old', 0, 0)], false),
      { new: 2 },
    ],
    ['scales down', rollout(deployment(1, rolling('25%', '25%')), set('new', 3, 3)), { new: 1 }],
  ])('%s', (_, given, sizes) => {
    expect(Object.fromEntries(planRollout(given))).toEqual(sizes);
  });

  const counts = tuple(
    integer({ min: 1, max: 20 }),
    constantFrom(0, 1, 3, '25%', '50%'),
    constantFrom(0, 1, 2, '25%', '50%'),
  );

  test('ends with only the new set and stays within the surge and unavailability limits', () => {
    forAll(
      property(counts, ([replicas, maxSurge, maxUnavailable]) => {
        const owner = deployment(replicas, rolling(maxSurge, maxUnavailable));
        const { surge, unavailable } = rolloutMargins(owner);
        let sizes: Record<string, number> = { new: 0, old: replicas };
        for (let step = 0; step < 200; step += 1) {
          const current = set('new', sizes['new'] ?? 0, sizes['new'] ?? 0);
          const old = set('old', sizes['old'] ?? 0, sizes['old'] ?? 0);
          const next = Object.fromEntries(planRollout(rollout(owner, current, [old])));
          if (Object.keys(next).length === 0) break;
          sizes = { ...sizes, ...next };
          const total = (sizes['new'] ?? 0) + (sizes['old'] ?? 0);
          expect(total).toBeLessThanOrEqual(replicas + surge);
          expect(total).toBeGreaterThanOrEqual(replicas - unavailable);
        }
        expect(sizes).toEqual({ new: replicas, old: 0 });
      }),
    );
  });
});
