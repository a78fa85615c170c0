import { describe, expect, it } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { idledAt, unidleTargets } from './annotations.ts';
import { minReplicasToRestore, planTargets, refusalOf, sleepingMinReplicas } from './idle-plan.ts';

const web = { kind: 'Deployment', name: 'web', group: 'apps' };
const asleep = (targets: string): Service => ({
  metadata: { annotations: { [idledAt]: '2026-01-01T00:00:00Z', [unidleTargets]: targets } },
});

describe('the replicas to restore', () => {
  it.each([
    ['the current ones', {}, 3, undefined, 3],
    [
      'the stored ones of an idle Service',
      asleep(JSON.stringify([{ ...web, replicas: 5 }])),
      0,
      '2',
      5,
    ],
    ['those of the target if the Service has none stored', {}, 0, '4', 4],
    ['one if none are stored', {}, 0, undefined, 1],
    ['one if the stored ones are unreadable', asleep('nonsense'), 0, 'many', 1],
    [
      'the current ones, even if others are stored',
      asleep(JSON.stringify([{ ...web, replicas: 5 }])),
      2,
      '7',
      2,
    ],
  ])('are %s', (_, service, currentReplicas, previousScale, replicas) => {
    const states = [{ ...web, currentReplicas, previousScale }];
    expect(planTargets(service, undefined, states)).toEqual([{ ...web, replicas }]);
  });

  it('are kept once for a target that is not found any more', () => {
    const old = { kind: 'StatefulSet', name: 'db', group: 'apps', replicas: 2 };
    const service = asleep(JSON.stringify([old]));
    const states = [{ ...web, currentReplicas: 1, previousScale: undefined }];
    expect(planTargets(service, service, states)).toEqual([{ ...web, replicas: 1 }, old]);
  });
});

describe('a Service that must not be idled', () => {
  const ports = [{ port: 80 }];
  it.each<[string, Service, string | undefined]>([
    ['an ordinary one', { spec: { clusterIP: '10.96.0.1', ports } }, undefined],
    ['a headless one', { spec: { clusterIP: 'None', ports } }, 'headless'],
    ['a name', { spec: { type: 'ExternalName' } }, 'only a name'],
    [
      'one with SCTP alone',
      { spec: { clusterIP: '10.96.0.1', ports: [{ port: 80, protocol: 'SCTP' }] } },
      'no TCP or UDP',
    ],
    [
      'one that is being deleted',
      { metadata: { deletionTimestamp: 'x' }, spec: { clusterIP: '10.96.0.1', ports } },
      'deleted',
    ],
  ])('%s', (_, service, why) => {
    const refusal = refusalOf(service);
    if (why === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(why);
  });
});

describe('the lower bound of an autoscaler', () => {
  const bound = (minReplicas?: number) => ({
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'web' },
      maxReplicas: 9,
      ...(minReplicas === undefined ? {} : { minReplicas }),
    },
  });
  it('stays, except for an autoscaler that may scale to 0 and would wake its target', () => {
    expect([bound(), bound(3), bound(0)].map(sleepingMinReplicas)).toEqual([1, 3, 1]);
  });
  it.each([
    ['0', 1, 0],
    ['0', undefined, 0],
    ['0', 4, undefined],
    ['3', 3, undefined],
    ['3', 5, undefined],
    [undefined, 1, undefined],
    ['x', 1, undefined],
  ])('stored %s, now %s: set to %s', (stored, current, restored) => {
    expect(minReplicasToRestore(stored, current)).toBe(restored);
  });
});
