import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import {
  frontendKey,
  makeFrontend,
  parseFrontendKey,
  type Frontend,
} from '../../protocol/frontend.ts';
import { inverseOf, StateHolder, type GatewayState } from '../store/state.ts';
import { UpdateReader, type Update } from '../../protocol/update.ts';
import { writeState } from '../../protocol/write-update.ts';
import { acknowledge } from './acknowledge.ts';
import { admit, UpdateRejected } from './admit.ts';

const limits = { share: 0.5, count: 20 };

function frontend(last: number, destination = '10.0.0.1'): Frontend {
  return makeFrontend({
    address: parseAddress(`192.0.2.${last}`),
    protocol: 'TCP',
    port: parsePort(80),
    destinations: [{ address: parseAddress(destination), port: parsePort(8080), weight: 1 }],
  });
}

function push(header: object, ...records: unknown[]): Update {
  const reader = new UpdateReader();
  reader.line(JSON.stringify({ causeway: 'agent/v2', revision: 1, kind: 'state', ...header }));
  for (const record of records) reader.line(JSON.stringify(record));
  reader.line(JSON.stringify({ end: { records: records.length } }));
  return reader.result();
}

function pushOf(generation: number, frontends: readonly Frontend[], meansRemoval = false): Update {
  const reader = new UpdateReader();
  const content = { frontends, policies: [], assignments: [], nodes: [] };
  for (const line of writeState(content, { generation, meansRemoval })) reader.line(line);
  return reader.result();
}

const record = (last: number, ...to: string[]) => ({
  frontend: {
    address: `192.0.2.${last}`,
    protocol: 'TCP',
    port: 80,
    destinations: to.map((address) => ({ address, port: 8080 })),
  },
});

/** Applies updates one after another and returns the state and the last rejections. */
function after(...pushes: Update[]) {
  const holder = new StateHolder();
  let complaints: readonly { message: string }[] = [];
  for (const [index, each] of pushes.entries()) {
    const admission = admit(holder.current, each, String(index), limits);
    if (admission.verdict !== 'admitted') continue;
    complaints = admission.complaints;
    holder.commit(admission.change);
  }
  return { state: holder.current, complaints };
}

function served(state: GatewayState): string[] {
  return [...state.frontends.values()].map(
    (each) => `${frontendKey(each)} ${each.destinations.map((to) => to.address).join()}`,
  );
}

describe('admitting an update', () => {
  test('replaces everything with a full state', () => {
    const { state } = after(pushOf(1, [frontend(1), frontend(2)]), pushOf(2, [frontend(2)]));
    expect(served(state)).toEqual(['192.0.2.2:80/TCP 10.0.0.1']);
    expect(state.generation).toBe(2);
  });

  test('changes only the records that a delta names', () => {
    const { state } = after(
      pushOf(1, [frontend(1), frontend(2), frontend(3)]),
      push({ kind: 'delta', generation: 2, base: 1 }, record(2, '10.0.0.9'), {
        removeFrontend: { address: '192.0.2.3', protocol: 'TCP', port: 80 },
      }),
    );
    expect(served(state)).toEqual(['192.0.2.1:80/TCP 10.0.0.1', '192.0.2.2:80/TCP 10.0.0.9']);
  });

  test('reports no change for an unchanged record', () => {
    const { state } = after(pushOf(1, [frontend(1)]));
    const admission = admit(state, pushOf(2, [frontend(1)]), 'x', limits);
    expect(admission).toMatchObject({ verdict: 'admitted', change: { frontends: new Map() } });
  });

  test('recognizes a repeated request and rejects another one of the same generation', () => {
    const { state } = after(pushOf(1, [frontend(1)]));
    expect(admit(state, pushOf(1, [frontend(1)]), '0', limits)).toEqual({ verdict: 'repeated' });
    expect(() => admit(state, pushOf(1, []), 'other', limits)).toThrow(UpdateRejected);
  });

  test.each([
    ['an older generation', { generation: 4 }, 'stale'],
    ['a delta against an older state', { kind: 'delta', generation: 9, base: 4 }, 'base-mismatch'],
    ['a delta against a future state', { kind: 'delta', generation: 9, base: 6 }, 'base-mismatch'],
  ])('rejects %s', (_name, header, reason) => {
    const { state } = after(pushOf(5, [frontend(1)]));
    expect(() => admit(state, push(header), 'x', limits)).toThrow(
      expect.objectContaining({ reason }),
    );
  });

  test('keeps and lists the previous record of a bad frontend until a good record arrives', () => {
    const bad = after(
      pushOf(1, [frontend(1), frontend(2)]),
      push({ generation: 2 }, record(1, 'nonsense'), record(2, '10.0.0.7')),
    );
    expect(served(bad.state)).toEqual(['192.0.2.1:80/TCP 10.0.0.1', '192.0.2.2:80/TCP 10.0.0.7']);
    expect(acknowledge(bad.state, [], true).older).toMatchObject([
      { address: '192.0.2.1', protocol: 'TCP', port: 80, generation: 1 },
    ]);
    const holder = new StateHolder();
    holder.commit(bad.state);
    const good = admit(bad.state, pushOf(3, [frontend(1)]), 'x', limits);
    if (good.verdict === 'admitted') holder.commit(good.change);
    expect(acknowledge(holder.current, [], true).older).toEqual([]);
  });

  test('lists a frontend under its original generation after any number of bad updates', () => {
    const { state } = after(
      pushOf(1, [frontend(1)]),
      push({ generation: 2 }, record(1, 'bad')),
      push({ generation: 3 }, record(1, 'worse')),
    );
    expect(acknowledge(state, [], false).older).toMatchObject([{ generation: 1 }]);
  });

  test('lists only served frontends', () => {
    const bad = { frontend: { ...record(1).frontend, destinations: 'none' } };
    const removed = { removeFrontend: { address: '192.0.2.1', protocol: 'TCP', port: 80 } };
    const { state } = after(
      push({ generation: 1 }, record(1, '10.0.0.1')),
      push({ generation: 2, kind: 'delta', base: 1 }, bad, removed),
    );
    expect([...state.frontends.keys(), ...state.kept.keys()]).toEqual([]);

    const holder = new StateHolder();
    const first = admit(holder.current, push({ generation: 1 }, record(1, '10.0.0.1')), '', limits);
    if (first.verdict !== 'admitted') throw new Error('refused');
    const undo = inverseOf(holder.current, first.change, 3);
    holder.commit(first.change);
    const second = admit(holder.current, push({ generation: 2 }, bad), 'b', limits);
    if (second.verdict !== 'admitted') throw new Error('refused');
    holder.commit(second.change);
    expect(holder.current.kept.size).toBe(1);
    holder.commit(undo);
    expect([...holder.current.frontends.keys(), ...holder.current.kept.keys()]).toEqual([]);
  });

  test.each([
    ['its port', { port: '80' }, ['192.0.2.1']],
    ['its address', { address: 'nowhere' }, ['192.0.2.1', '192.0.2.2']],
  ])('removes nothing that a record without %s may refer to', (_name, broken, kept) => {
    const bad = { frontend: { ...record(1, '10.0.0.9').frontend, ...broken } };
    const { state, complaints } = after(
      push({ generation: 1 }, record(1, '10.0.0.1'), record(2, '10.0.0.1'), record(3, '10.0.0.1')),
      push({ generation: 2 }, record(3, '10.0.0.1'), bad),
    );
    expect([...state.kept.keys()].map((key) => parseFrontendKey(key).address)).toEqual(kept);
    expect(served(state)).toHaveLength(kept.length + 1);
    expect(complaints).toHaveLength(1);
  });

  test('drops a kept frontend that a valid record has, and reports it', () => {
    const { state, complaints } = after(
      pushOf(1, [frontend(1)]),
      push({ generation: 2 }, record(1, 'bad'), record(1, '10.0.0.8')),
    );
    expect(served(state)).toEqual(['192.0.2.1:80/TCP 10.0.0.8']);
    expect(state.kept.size).toBe(0);
    expect(complaints.map(({ message }) => message).join()).toMatch(/dropped/);
  });

  test("keeps a pod's assignment after a bad record, and closes a pod without an assignment", () => {
    const policies = [{ namespace: 'a', name: 'p' }];
    const assignment = (last: number, named: object[]) => ({
      assignment: { address: `10.0.0.${last}`, policies: named },
    });
    const { state, complaints } = after(
      push({ generation: 1 }, assignment(1, policies)),
      push({ generation: 2 }, assignment(1, [{}]), assignment(2, [{}])),
    );
    expect([...state.assignments.values()]).toEqual([
      { address: '10.0.0.1', policies: ['a/p'], namedPorts: [] },
      { address: '10.0.0.2', policies: [], namedPorts: [] },
    ]);
    expect(complaints.map(({ message }) => message).join()).toMatch(/10\.0\.0\.2 is closed/);
    const removed = after(push({ generation: 1 }, assignment(2, [{}])), push({ generation: 2 }));
    expect(removed.state.assignments.size).toBe(0);
  });

  test('reaches the same state with a delta as with a full update, and can be reverted', () => {
    const sets = fc.uniqueArray(
      fc.tuple(fc.integer({ min: 1, max: 15 }), fc.constantFrom('10.0.0.1', '10.0.0.2')),
      { selector: ([last]) => last },
    );
    fc.assert(
      fc.property(sets, sets, (first, second) => {
        const holder = new StateHolder();
        const start = admit(
          holder.current,
          pushOf(
            1,
            first.map((e) => frontend(...e)),
          ),
          'a',
          limits,
        );
        if (start.verdict === 'admitted') holder.commit(start.change);
        const before = new Map(holder.current.frontends);
        const wanted = second.map((each) => frontend(...each));
        const next = admit(holder.current, pushOf(2, wanted), 'b', limits);
        if (next.verdict !== 'admitted') throw new Error('refused');
        const back = inverseOf(holder.current, next.change, 3);
        holder.commit(next.change);
        expect(new Set(served(holder.current))).toEqual(
          new Set(wanted.map((e) => `${frontendKey(e)} ${e.destinations[0]?.address}`)),
        );
        holder.commit(back);
        expect(new Map(holder.current.frontends)).toEqual(before);
      }),
    );
  });
});
