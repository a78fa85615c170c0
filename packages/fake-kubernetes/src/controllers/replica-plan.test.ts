import { describe, expect, test } from 'vitest';
import type { Pod } from '../resources/pod/pod-type.ts';
import { planReplicas } from './replica-plan.ts';

const now = Date.parse('2026-01-01T01:00:00Z');

interface Traits {
  readonly node?: string;
  readonly phase?: string;
  readonly ready?: boolean;
  readonly since?: string;
  readonly created?: string;
  readonly isLeaving?: boolean;
}

function pod(name: string, traits: Traits = {}): Pod {
  const { node, phase = 'Running', ready = true, since = '2026-01-01T00:00:00Z' } = traits;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: traits.created ?? '2026-01-01T00:00:00Z',
      labels: { app: 'web' },
      ...(traits.isLeaving === true ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], ...(node === undefined ? { nodeName: 'n' } : { nodeName: node }) },
    status: {
      phase,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since }],
    },
  };
}

const demand = (replicas: number, minReadySeconds = 0) => ({
  replicas,
  templateLabels: { app: 'web' },
  minReadySeconds,
});

describe('planReplicas', () => {
  test('creates missing pods and counts existing ones', () => {
    const plan = planReplicas(demand(4), [pod('a'), pod('b', { ready: false })], now);
    expect(plan.create).toBe(2);
    expect(plan.remove).toEqual([]);
    expect(plan.counts).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      terminatingReplicas: 0,
    });
  });

  test('counts neither finished nor terminating pods', () => {
    const pods = [pod('a'), pod('b', { phase: 'Failed' }), pod('c', { isLeaving: true })];
    const plan = planReplicas(demand(1), pods, now);
    expect([plan.create, plan.remove]).toEqual([0, []]);
    expect(plan.counts.terminatingReplicas).toBe(1);
  });

  test.each<readonly [string, readonly Pod[], readonly string[]]>([
    ['a pod without a node first', [pod('a'), pod('b', { node: '' })], ['b']],
    ['a pod that has not started first', [pod('a'), pod('b', { phase: 'Pending' })], ['b']],
    ['a pod that is not ready first', [pod('a', { ready: false }), pod('b')], ['a']],
    ['the younger pod first', [pod('a'), pod('b', { created: '2026-01-01T00:30:00Z' })], ['b']],
  ])('removes %s', (_, pods, removed) => {
    const plan = planReplicas(demand(1), pods, now);
    expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual(removed);
  });

  test('waits until a ready pod is available', () => {
    const fresh = pod('a', { since: '2026-01-01T00:59:50Z' });
    const plan = planReplicas(demand(1, 30), [fresh], now);
    expect(plan.counts).toMatchObject({ readyReplicas: 1, availableReplicas: 0 });
    expect(plan.nextAvailableMs).toBe(20_000);
  });
});
