import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../object.ts';
import { builtInSchema } from '../openapi/built-in-schemas.ts';
import { ApiError } from '../status.ts';
import { difference, fromFieldsV1, intersection, toFieldsV1, union } from './field-set.ts';
import { applyConfiguration, trackUpdate } from './managed-fields.ts';

const schema = builtInSchema({ group: '', version: 'v1', kind: 'Service' });
const writer = (manager: string) => ({ manager, apiVersion: 'v1', time: '2026-01-01T00:00:00Z' });

/** Applies the configurations in order, each with its manager. Returns the object and its owners. */
function applyAll(
  ...steps: readonly (readonly [manager: string, spec: object, force?: boolean])[]
) {
  let live: Record<string, unknown> = {};
  let entries: ManagedFieldsEntry[] = [];
  for (const [manager, spec, force = false] of steps) {
    const applied = applyConfiguration({
      schema,
      live,
      config: { spec },
      entries,
      writer: writer(manager),
      force,
    });
    live = applied.object;
    entries = applied.entries;
  }
  return { spec: live['spec'], owners: entries.map(({ manager }) => manager).sort() };
}

const http = { port: 80, protocol: 'TCP', name: 'http' };
const tls = { port: 443, protocol: 'TCP', name: 'tls' };

describe('applyConfiguration', () => {
  test('merges lists by key, so that each applier keeps its own items', () => {
    expect(applyAll(['one', { ports: [http] }], ['two', { ports: [tls] }])).toEqual({
      spec: { ports: [http, tls] },
      owners: ['one', 'two'],
    });
  });

  test('removes only the fields that the applier no longer applies', () => {
    const after = applyAll(
      ['one', { ports: [http], type: 'NodePort' }],
      ['two', { ports: [tls] }],
      ['one', { type: 'NodePort' }],
    );
    expect(after).toEqual({ spec: { ports: [tls], type: 'NodePort' }, owners: ['one', 'two'] });
  });

  test('keeps a field that two appliers share until both drop it', () => {
    const both = [
      ['one', { type: 'NodePort', externalName: 'x' }],
      ['two', { type: 'NodePort' }],
    ] as const;
    expect(applyAll(...both, ['one', { externalName: 'x' }]).spec).toEqual({
      type: 'NodePort',
      externalName: 'x',
    });
    expect(applyAll(...both, ['one', { externalName: 'x' }], ['two', {}]).spec).toEqual({
      externalName: 'x',
    });
  });

  test('names the field and its owner in a conflict, and takes the field with force', () => {
    const conflict = () =>
      applyAll(['one', { ports: [http] }], ['two', { ports: [{ ...http, name: 'x' }] }]);
    expect(conflict).toThrow(ApiError);
    expect(conflict).toThrow(
      'Apply failed with 1 conflict: conflict with "one": .spec.ports[port=80,protocol="TCP"].name',
    );
    expect(
      applyAll(['one', { ports: [http] }], ['two', { ports: [{ ...http, name: 'x' }] }, true]).spec,
    ).toEqual({ ports: [{ ...http, name: 'x' }] });
  });
});

describe('trackUpdate', () => {
  test('gives the writer the fields it changed and removes them from other owners', () => {
    const first = trackUpdate({
      schema,
      before: {},
      after: { spec: { type: 'NodePort', ports: [http] } },
      entries: [],
      writer: writer('one'),
    });
    const second = trackUpdate({
      schema,
      before: { spec: { type: 'NodePort', ports: [http] } },
      after: { spec: { type: 'LoadBalancer', ports: [http] } },
      entries: first,
      writer: writer('two'),
    });
    const fields = (manager: string) => second.find((entry) => entry.manager === manager)?.fieldsV1;
    expect(fields('two')).toEqual({ 'f:spec': { 'f:type': {} } });
    expect(fields('one')).not.toHaveProperty(['f:spec', 'f:type']);
    expect(fields('one')).toHaveProperty(['f:spec', 'f:ports']);
  });
});

describe('field sets', () => {
  const step = fc.constantFrom('f:a', 'f:b', 'k:{"x":1}', 'v:"y"');
  const { tree } = fc.letrec<{ tree: Record<string, unknown> }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      fc.constant({}),
      fc.dictionary(step, tie('tree'), { minKeys: 1, maxKeys: 3 }),
    ),
  }));
  const sets = tree.map((value) => fromFieldsV1(value) ?? { member: false, children: new Map() });

  test('survive a round trip through FieldsV1 and follow the laws of sets', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(toFieldsV1(fromFieldsV1(toFieldsV1(a)) ?? b)).toEqual(toFieldsV1(a));
        const rest = difference(a, b);
        const shared = intersection(a, b);
        expect(toFieldsV1(union(rest, shared))).toEqual(toFieldsV1(a));
        expect(toFieldsV1(union(a, b))).toEqual(toFieldsV1(union(b, a)));
        expect(toFieldsV1(intersection(rest, b))).toEqual({});
      }),
    );
  });
});
