import { describe, expect, test } from 'vitest';
import type { Pod } from '../resources/pod/pod-type.ts';
import type { StatefulSet } from '../resources/workload-type.ts';
import { nextStatefulSetStep, revisionLabel } from './stateful-set-plan.ts';

const metadata = (name: string) => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '',
});

function set(replicas: number, change: Partial<StatefulSet['spec']> = {}): StatefulSet {
  const spec = {
    replicas,
    selector: {},
    template: { spec: { containers: [] } },
    podManagementPolicy: 'OrderedReady',
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
    ...change,
  };
  return { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: metadata('db'), spec };
}

/** `0`: ready and new; `1!`: not ready; `2-`: terminating; `3o`: old revision; `4x`: failed. */
function pod(text: string): Pod {
  const ordinal = Number.parseInt(text, 10);
  const isReady = !text.includes('!');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata(`db-${ordinal}`),
      labels: { [revisionLabel]: text.includes('o') ? 'old' : 'new' },
      ...(text.includes('-') ? { deletionTimestamp: 'now' } : {}),
    },
    spec: { containers: [] },
    status: {
      phase: text.includes('x') ? 'Failed' : 'Running',
      conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
    },
  };
}

function next(owner: StatefulSet, pods: readonly string[]): string {
  const facts = { set: owner, pods: pods.map(pod), current: 'old', update: 'new', wallTime: 0 };
  const step = nextStatefulSetStep(facts);
  switch (step.kind) {
    case 'create':
      return `create ${step.ordinal} ${step.revision}`;
    case 'remove':
      return `remove ${step.pod.metadata.name}`;
    case 'none':
      return 'none';
  }
}

const parallel = { podManagementPolicy: 'Parallel' };
const partition = (value: number) => ({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: value } },
});

describe('nextStatefulSetStep', () => {
  test.each<readonly [string, StatefulSet, readonly string[], string]>([
    ['starts with the first pod', set(3), [], 'create 0 new'],
    ['waits until the first pod is ready', set(3), ['0!'], 'none'],
    ['continues with the next pod', set(3), ['0'], 'create 1 new'],
    ['does nothing when all pods are ready', set(2), ['0', '1'], 'none'],
    ['fills a gap first', set(3), ['0', '2'], 'create 1 new'],
    ['replaces a failed pod', set(2), ['0', '1x'], 'remove db-1'],
    ['removes the last pod first', set(1), ['0', '1', '2'], 'remove db-2'],
    ['removes one pod at a time', set(1), ['0', '1', '2-'], 'none'],
    ['does not scale down while a pod is not ready', set(2), ['0!', '1', '2'], 'none'],
    ['creates pods in parallel with Parallel', set(3, parallel), ['0!'], 'create 1 new'],
    ['removes pods in parallel with Parallel', set(1, parallel), ['0', '1', '2-'], 'remove db-1'],
    ['updates the last pod first', set(3), ['0o', '1o', '2o'], 'remove db-2'],
    ['waits for the updated pod', set(3), ['0o', '1o', '2!'], 'none'],
    ['updates the next pod after that', set(3), ['0o', '1o', '2'], 'remove db-1'],
    ['keeps pods below the partition', set(3, partition(2)), ['0o', '1o', '2'], 'none'],
    [
      'recreates a pod below the partition with its old revision',
      set(3, partition(2)),
      ['1o', '2'],
      'create 0 old',
    ],
    [
      'updates no pods with OnDelete',
      set(1, { updateStrategy: { type: 'OnDelete' } }),
      ['0o'],
      'none',
    ],
    ['starts at the given ordinal', set(2, { ordinals: { start: 5 } }), ['5'], 'create 6 new'],
  ])('%s', (_, owner, pods, step) => {
    expect(next(owner, pods)).toBe(step);
  });
});
