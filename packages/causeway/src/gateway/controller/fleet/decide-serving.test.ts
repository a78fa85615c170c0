import { expect, test } from 'vitest';
import { decideServing, failingAfterMs, type ServingFacts } from './decide-serving.ts';

const gateway = (name: string, facts: Partial<ServingFacts> = {}): ServingFacts => ({
  name,
  failure: undefined,
  downForMs: undefined,
  isFenced: false,
  confirmed: 5,
  role: 'standby',
  lastRole: 'standby',
  ...facts,
});
const frozen = { failure: 'this gateway is frozen', confirmed: 4 };
const active = { role: 'active', lastRole: 'active' } as const;
const gone = { failure: 'no route', confirmed: 4, role: undefined };

test.each<[string, readonly ServingFacts[], string | undefined]>([
  ['all gateways confirm', [gateway('a', active), gateway('b')], undefined],
  [
    'the active gateway is behind',
    [gateway('a', { ...active, confirmed: 4 }), gateway('b')],
    'Waiting for a',
  ],
  [
    'the active gateway rejects updates',
    [gateway('a', { ...active, ...frozen }), gateway('b')],
    'The active gateway a does not serve the current state: this gateway is frozen',
  ],
  ['a standby gateway rejects updates', [gateway('a', active), gateway('b', frozen)], undefined],
  [
    'the last active gateway does not answer, and no other is active',
    [gateway('a', { ...gone, lastRole: 'active' }), gateway('b')],
    'The active gateway a does not serve the current state: no route',
  ],
  [
    'another gateway became active instead',
    [gateway('a', { ...gone, lastRole: 'active' }), gateway('b', active)],
    undefined,
  ],
  [
    'the active gateway does not answer, but has confirmed',
    [gateway('a', { ...gone, lastRole: 'active', confirmed: 5 }), gateway('b')],
    undefined,
  ],
  [
    'the last active gateway is fenced',
    [gateway('a', { ...gone, lastRole: 'active', isFenced: true }), gateway('b')],
    undefined,
  ],
  [
    'roles are unknown',
    [gateway('a', { role: 'foreign', lastRole: 'foreign' }), gateway('b', gone)],
    undefined,
  ],
  ['no gateway answers', [gateway('a', gone)], 'No gateway can be reached: no route'],
])('if %s', (_name, gateways, message) => {
  expect(decideServing(gateways, 5)).toMatchObject(
    message === undefined ? { kind: 'served' } : { kind: 'waiting', message },
  );
});

test.each([
  [failingAfterMs - 1, false],
  [failingAfterMs, true],
])('an active gateway that has failed for %i ms: %s', (downForMs, isFailing) => {
  const gateways = [gateway('a', { ...active, ...frozen, downForMs }), gateway('b')];
  expect(decideServing(gateways, 5)).toMatchObject({ kind: 'waiting', isFailing });
});
