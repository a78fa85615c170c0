import { expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import { makeFrontend, type Frontend } from '../../protocol/frontend.ts';
import { policyKey } from '../../protocol/policy.ts';
import { StateHolder } from '../store/state.ts';
import { UpdateReader } from '../../protocol/update.ts';
import { writeState, type StateContent } from '../../protocol/write-update.ts';
import { admit } from './admit.ts';

const limits = { share: 0.5, count: 20 };
const pod = parseAddress('10.0.0.1');
const node = parseAddress('10.1.0.1');
const otherNode = parseAddress('10.1.0.2');
const policy = { namespace: 'default', name: 'closed', ingress: [] };
const assignment = { address: pod, policies: [policyKey(policy)], namedPorts: [] };

const toPod = (last: number): Frontend =>
  makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    destinations: [{ address: pod, port: parsePort(8080), weight: 1 }],
  });

const toNodes = (last: number): Frontend =>
  makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    nodePort: parsePort(30_000 + last),
  });

const thirty = (make: (last: number) => Frontend) =>
  Array.from({ length: 30 }, (_, index) => make(index + 1));

const empty = { frontends: [], policies: [], assignments: [], nodes: [] };

function after(...contents: StateContent[]) {
  const holder = new StateHolder();
  for (const [index, content] of contents.entries()) {
    const reader = new UpdateReader();
    for (const line of writeState(content, { generation: index + 1 })) reader.line(line);
    const admission = admit(holder.current, reader.result(), String(index), limits);
    if (admission.verdict === 'admitted') holder.commit(admission.change);
  }
  return holder.current;
}

test('keeps the network policies of the pods of withheld frontends', () => {
  const first = {
    ...empty,
    frontends: thirty(toPod),
    policies: [policy],
    assignments: [assignment],
  };
  const state = after(first, empty, empty);
  expect([...state.assignments.keys()]).toEqual([pod]);
  expect([...state.policies.keys()]).toEqual(['default/closed']);
});

test('applies the update for a pod that one of its own frontends leads to', () => {
  const first = {
    ...empty,
    frontends: thirty(toPod),
    policies: [policy],
    assignments: [assignment],
  };
  const state = after(first, { ...empty, frontends: [toPod(99)] });
  expect(state.frontends.size).toBe(31);
  expect([...state.assignments.keys()]).toEqual([]);
});

test('removes policies and nodes that no withheld frontend needs', () => {
  const first = { ...empty, frontends: [toPod(1)], policies: [policy], nodes: [{ address: node }] };
  const state = after(first, empty);
  expect([...state.policies.keys(), ...state.nodes.keys()]).toEqual([]);
});

test.each([
  ['some nodes replaces the nodes', [{ address: otherNode }], [otherNode]],
  ['no node at all leaves the nodes of withheld frontends', [], [node]],
])('an update with %s', (_name, nodes, left) => {
  const first = { ...empty, frontends: thirty(toNodes), nodes: [{ address: node }] };
  const state = after(first, { ...empty, nodes });
  expect(state.frontends.size).toBe(30);
  expect([...state.nodes.keys()]).toEqual(left);
});
