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
    ['no nodes', pod(), [], [], { reason: 'no nodes available to schedule pods' }],
    ['the emptier one', pod(), [node('a'), node('b')], [pod({ nodeName: 'a' })], { nodeName: 'b' }],
    [
      'the one with the label',
      pod({ nodeSelector: { d: 'f' } }),
      [node('a'), node('b', {}, { d: 'f' })],
      [],
      { nodeName: 'b' },
    ],
    [
      'one that is open',
      pod(),
      [node('a', { unschedulable: true }), node('b')],
      [],
      { nodeName: 'b' },
    ],
    [
      'none with a taint',
      pod(),
      [node('a', { taints: [taint] })],
      [],
      { reason: '0/1 nodes are available: 1 node(s) had untolerated taint(s) {dedicated: x}.' },
    ],
    [
      'one whose taint it tolerates',
      pod({ tolerations: [{ key: 'dedicated', value: 'x' }] }),
      [node('a', { taints: [taint] })],
      [],
      { nodeName: 'a' },
    ],
    [
      'one whose taint anything tolerates',
      pod({ tolerations: [{ operator: 'Exists' }] }),
      [node('a', { taints: [taint] })],
      [],
      { nodeName: 'a' },
    ],
    [
      'none with another value',
      pod({ tolerations: [{ key: 'dedicated', value: 'y' }] }),
      [node('a', { taints: [taint] }), node('b', { unschedulable: true })],
      [],
      {
        reason:
          '0/2 nodes are available: 1 node(s) had untolerated taint(s) {dedicated: x}, 1 node(s) were unschedulable.',
      },
    ],
    [
      'one that only prefers others',
      pod(),
      [node('a', { taints: [{ ...taint, effect: 'PreferNoSchedule' }] })],
      [],
      { nodeName: 'a' },
    ],
  ])('%s', (_, wanted, nodes, pods, choice) => {
    expect(chooseNode(wanted, nodes, pods)).toEqual(choice);
  });
});
