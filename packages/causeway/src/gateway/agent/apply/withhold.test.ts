import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import {
  frontendKey,
  makeFrontend,
  type Frontend,
  type FrontendKey,
} from '../../protocol/frontend.ts';
import { StateHolder, type GatewayState } from '../store/state.ts';
import { UpdateReader, type Update } from '../../protocol/update.ts';
import { writeDelta, writeState } from '../../protocol/write-update.ts';
import { acknowledge } from './acknowledge.ts';
import { admit } from './admit.ts';
import { confirmedRemovals } from './withhold.ts';

const limits = { share: 0.5, count: 20 };

const frontend = (last: number, service = `default/s${last}`, to = '10.0.0.1'): Frontend =>
  makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    service,
    destinations: [{ address: parseAddress(to), port: parsePort(8080), weight: 1 }],
  });

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => frontend(from + index));

function read(lines: Iterable<string>): Update {
  const reader = new UpdateReader();
  for (const line of lines) reader.line(line);
  return reader.result();
}

const nothingElse = { policies: [], assignments: [], nodes: [] };
const nothingRemoved = { removedPolicies: [], removedAssignments: [], removedNodes: [] };

const full = (generation: number, frontends: readonly Frontend[], meansRemoval = false) =>
  read(writeState({ frontends, ...nothingElse }, { generation, meansRemoval }));

const delta = (
  generation: number,
  frontends: readonly Frontend[],
  removedFrontends: readonly Frontend[],
) =>
  read(
    writeDelta(
      { frontends, removedFrontends, ...nothingElse, ...nothingRemoved },
      { generation, base: generation - 1 },
    ),
  );

function after(pushes: readonly Update[], each = limits): GatewayState {
  const holder = new StateHolder();
  for (const push of pushes) {
    const admission = admit(holder.current, push, String(push.header.generation), each);
    if (admission.verdict === 'admitted') holder.commit(admission.change);
  }
  return holder.current;
}

const keys = (frontends: readonly Frontend[]) => frontends.map(frontendKey).sort();
const served = (state: GatewayState) => [...state.frontends.keys()].sort();
const withheld = (state: GatewayState) =>
  (acknowledge(state, [], true).withheld ?? []).map(({ address }) => `${address}:80/TCP`).sort();

describe('the guard', () => {
  test('withholds each removal of an update that asks for it, and applies the rest', () => {
    const update = writeState(
      { frontends: [frontend(1), frontend(9)], ...nothingElse },
      { generation: 2, withholdRemovals: true },
    );
    const state = after([full(1, range(1, 3)), read(update)]);
    expect(withheld(state)).toEqual(keys(range(2, 3)));
    expect(served(state)).toEqual(keys([...range(1, 3), frontend(9)]));
  });

  test.each([
    ['more than half and more than 20', 45, 22, 23],
    ['more than half but only 20', 30, 10, 0],
    ['more than 20 but only half', 60, 30, 0],
    ['all of a few', 10, 0, 0],
    ['all of many', 21, 0, 21],
  ])('removing %s', (_name, before, left, count) => {
    const first = full(1, range(1, before));
    expect(withheld(after([first, full(2, range(1, left))]))).toHaveLength(count);
    const removed = range(left + 1, before);
    expect(withheld(after([first, delta(2, [], removed)]))).toHaveLength(count);
    expect(withheld(after([first, full(2, range(1, left), true)]))).toEqual([]);
  });

  test('withholds every removal of the controller of another cluster', () => {
    const from = (generation: number, cluster: string, ...frontends: Frontend[]) =>
      read(writeState({ frontends, ...nothingElse }, { generation, cluster }));
    const first = from(1, 'blue', ...range(1, 3));
    expect(withheld(after([first, from(2, 'blue', frontend(1))]))).toEqual([]);
    const visited = after([first, from(2, 'green', frontend(9))]);
    expect(served(visited)).toEqual(keys([...range(1, 3), frontend(9)]));
    expect(withheld(visited)).toEqual(keys(range(1, 3)));
    expect(acknowledge(visited, [], true).withheld?.[0]?.reason).toContain(
      'another cluster (green)',
    );
  });

  test.each([
    ['a full update', full(2, [...range(25, 26), ...range(101, 125)])],
    ['a delta', delta(2, [...range(26, 26), ...range(101, 125)], range(1, 24))],
  ])('%s is applied in every other respect', (_name, push) => {
    const state = after([full(1, range(1, 25)), push]);
    expect(state.generation).toBe(2);
    expect(served(state)).toEqual(keys([...range(1, 26), ...range(101, 125)]));
    expect(withheld(state)).toEqual(keys(range(1, 24)));
    const [first] = acknowledge(state, [], true).withheld ?? [];
    expect(first).toEqual({
      address: '192.0.2.10',
      protocol: 'TCP',
      port: 80,
      generation: 1,
      service: 'default/s10',
      reason:
        'the update to generation 2 removes 24 of 25 frontends; the removal waits for a confirmation',
    });
  });

  test('serves a frontend for the Service that takes it over, even after a withheld removal', () => {
    const taken = frontend(3, 'default/new', '10.0.0.9');
    const first = full(1, range(1, 25));
    for (const pushes of [
      [first, full(2, [taken])],
      [first, full(2, []), full(3, [taken])],
      [first, full(2, []), delta(3, [taken], [])],
    ]) {
      const state = after(pushes);
      expect(state.frontends.get(frontendKey(taken))).toMatchObject({ service: 'default/new' });
      expect(withheld(state)).not.toContain(frontendKey(taken));
      expect(withheld(state)).toHaveLength(24);
    }
  });

  test('keeps a removal withheld while later updates have few removals', () => {
    const pushes = [full(1, range(1, 25)), full(2, range(101, 150))];
    for (const next of [full(3, range(101, 149)), delta(3, [], range(150, 150))]) {
      const state = after([...pushes, next]);
      expect(served(state)).toEqual(keys([...range(1, 25), ...range(101, 149)]));
      expect(withheld(state)).toEqual(keys(range(1, 25)));
    }
  });

  test('counts only frontends that are not withheld as served', () => {
    const state = after([full(1, range(1, 40)), full(2, range(101, 125)), full(3, [])]);
    expect(withheld(state)).toHaveLength(65);
  });

  test('applies a permission to all withheld removals in any update', () => {
    const pushes = [full(1, range(1, 25)), full(2, range(101, 125))];
    const admission = admit(after(pushes), delta(3, [], []), 'x', { ...limits, isAllowed: true });
    if (admission.verdict !== 'admitted') throw new Error('it was repeated');
    expect(admission.usesPermission).toBe(true);
    expect([...admission.change.frontends.keys()].sort()).toEqual(keys(range(1, 25)));
  });

  test('keeps a frontend with an unreadable record', () => {
    const bad = read([
      JSON.stringify({ causeway: 'agent/v2', revision: 2, kind: 'state', generation: 3 }),
      JSON.stringify({ frontend: { address: '192.0.2.1', protocol: 'TCP', port: 80, x: 1 } }),
      JSON.stringify({ end: { records: 1 } }),
    ]);
    const state = after([full(1, range(1, 25)), full(2, []), bad]);
    expect(withheld(state)).toEqual(keys(range(2, 25)));
    expect(state.kept.get(frontendKey(frontend(1)))?.isWithheld).toBeUndefined();
  });

  test.each<[string, FrontendKey[], FrontendKey[]]>([
    ['some', keys(range(1, 5)), keys(range(6, 25))],
    ['none that is withheld', keys(range(101, 105)), keys(range(1, 25))],
    ['all', keys(range(1, 25)), []],
  ])('confirmed: %s', (_name, confirmed, left) => {
    const holder = new StateHolder();
    holder.commit(after([full(1, range(1, 25)), full(2, range(101, 125))]));
    const change = confirmedRemovals(holder.current, confirmed);
    expect(change).toMatchObject({ generation: 2, digest: '2' });
    holder.commit(change);
    expect(withheld(holder.current)).toEqual(left);
    expect(served(holder.current)).toEqual([...left, ...keys(range(101, 125))].sort());
  });
});
