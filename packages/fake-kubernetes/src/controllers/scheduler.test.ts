import { describe, expect, test } from 'vitest';
import type { Node } from '../resources/node.ts';
import type { Pod, PodSpec } from '../resources/pod/pod-type.ts';
import { chooseNode } from './scheduler.ts';

const metadata = (name: string, labels: Record<string, string> = {}) => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '',
  labels,
});

const node = (
  name: string,
  spec: Node['spec'] = {},
  labels: Record<string, string> = {},
): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: metadata(name, labels),
  spec,
});

const pod = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata('p'),
  spec: { containers: [], ...spec },
});

const taint = { key: 'dedicated', value: 'x', effect: 'NoSchedule' };

describe('chooseNode', () => {
  test.each<readonly [string, Pod, readonly Node[], readonly Pod[], object]>([
    [
      'reports that there are no nodes',
      pod(),
      [],
      [],
      { reason: 'no nodes available to schedule pods' },
    ],
    [
      'chooses the node with fewer pods',
      pod(),
      [node('a'), node('b')],
      [pod({ nodeName: 'a' })],
      { nodeName: 'b' },
    ],
    [
      'chooses the node with the selected label',
      pod({ nodeSelector: { d: 'f' } }),
      [node('a'), node('b', {}, { d: 'f' })],
      [],
      { nodeName: 'b' },
    ],
    [
      'skips an unschedulable node',
      pod(),
      [node('a', { unschedulable: true }), node('b')],
      [],
      { nodeName: 'b' },
    ],
    [
      'rejects a node with an untolerated taint',
      pod(),
      [node('a', { taints: [taint] })],
      [],
      { reason: '0/1 nodes are available: 1 node(s) had untolerated taint(s) {dedicated: x}.' },
    ],
    [
      'chooses a node with a tolerated taint',
      pod({ tolerations: [{ key: 'dedicated', value: 'x' }] }),
      [node('a', { taints: [taint] })],
      [],
      { nodeName: 'a' },
    ],
    [
      'accepts every taint with the operator Exists',
      pod({ tolerations: [{ operator: 'Exists' }] }),
      [node('a', { taints: [taint] })],
      [],
      { nodeName: 'a' },
    ],
    [
      'rejects a taint with another value',
      pod({ tolerations: [{ key: 'dedicated', value: 'y' }] }),
      [node('a', { taints: [taint] }), node('b', { unschedulable: true })],
      [],
      {
        reason:
          '0/2 nodes are available: 1 node(s) had untolerated taint(s) {dedicated: x}, 1 node(s) were unschedulable.',
      },
    ],
    [
      'accepts a node with the effect PreferNoSchedule',
      pod(),
      [node('a', { taints: [{ ...taint, effect: 'PreferNoSchedule' }] })],
      [],
      { nodeName: 'a' },
    ],
  ])('%s', (_, wanted, nodes, pods, choice) => {
    expect(chooseNode(wanted, nodes, pods)).toEqual(choice);
  });
});
