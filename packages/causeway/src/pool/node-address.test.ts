import { expect, test } from 'vitest';
import type { Node } from '@causeway/kubernetes/objects/core-objects';
import { addressOfNode } from './node-address.ts';

type NodeAddresses = NonNullable<NonNullable<Node['status']>['addresses']>;

function node(
  name: string,
  labels: Record<string, string>,
  addresses: NodeAddresses,
  ready = true,
) {
  const conditions = [{ type: 'Ready', status: ready ? ('True' as const) : ('False' as const) }];
  return { metadata: { name, labels }, status: { addresses, conditions } } satisfies Node;
}

const controlPlane = { 'node-role.kubernetes.io/control-plane': '' };
const internal = (address: string) => ({ type: 'InternalIP' as const, address });

test('chooses the first ready control plane node, and its external address if it has one', () => {
  const nodes = [
    node('worker', {}, [internal('10.0.0.9')]),
    node('m2', controlPlane, [
      internal('10.0.0.2'),
      { type: 'ExternalIP', address: '203.0.113.2' },
    ]),
    node('m1', controlPlane, [internal('10.0.0.1')], false),
    node('m3', controlPlane, [internal('10.0.0.3'), internal('2001:db8::3')]),
  ];
  expect(addressOfNode(nodes, undefined, 4)).toBe('203.0.113.2');
  expect(addressOfNode(nodes, undefined, 6)).toBe('2001:db8::3');
  expect(addressOfNode(nodes, 'worker', 4)).toBe('10.0.0.9');
  expect(addressOfNode(nodes, 'worker', 6)).toBeUndefined();
  expect(addressOfNode(nodes, 'm1', 4)).toBeUndefined();
});
