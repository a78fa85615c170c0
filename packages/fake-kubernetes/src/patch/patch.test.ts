import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtInSchema } from '../openapi/built-in-schemas.ts';
import { ApiError } from '../status.ts';
import { applyJsonPatch } from './json-patch.ts';
import { applyMergePatch } from './merge-patch.ts';
import { applyStrategicMergePatch } from './strategic-merge-patch.ts';

function refusalOf(patch: unknown): string {
  try {
    applyJsonPatch({ a: { b: [1, 2, 3] }, 'x/y': 1 }, patch);
  } catch (error) {
    if (error instanceof ApiError) return error.hint ?? error.message;
  }
  return 'not refused';
}

describe('JSON patch', () => {
  const document = { a: { b: [1, 2, 3] }, 'x/y': 1 };
  test.each([
    [[{ op: 'add', path: '/a/c', value: 1 }], { a: { b: [1, 2, 3], c: 1 }, 'x/y': 1 }],
    [[{ op: 'add', path: '/a/b/1', value: 9 }], { a: { b: [1, 9, 2, 3] }, 'x/y': 1 }],
    [[{ op: 'add', path: '/a/b/-', value: 9 }], { a: { b: [1, 2, 3, 9] }, 'x/y': 1 }],
    [[{ op: 'remove', path: '/a/b/0' }], { a: { b: [2, 3] }, 'x/y': 1 }],
    [[{ op: 'replace', path: '/x~1y', value: 2 }], { a: { b: [1, 2, 3] }, 'x/y': 2 }],
    [[{ op: 'move', from: '/x~1y', path: '/z' }], { a: { b: [1, 2, 3] }, z: 1 }],
    [[{ op: 'copy', from: '/a/b', path: '/c' }], { a: { b: [1, 2, 3] }, c: [1, 2, 3], 'x/y': 1 }],
    [[{ op: 'test', path: '/a/b', value: [1, 2, 3] }], document],
  ])('%j', (patch, expected) => {
    expect(applyJsonPatch(document, patch)).toEqual(expected);
    expect(document).toEqual({ a: { b: [1, 2, 3] }, 'x/y': 1 });
  });

  test.each([
    [[{ op: 'remove', path: '/missing' }], 'doc is missing path'],
    [[{ op: 'replace', path: '/a/missing', value: 1 }], 'doc is missing path'],
    [[{ op: 'add', path: '/a/b/7', value: 1 }], 'invalid index'],
    [[{ op: 'test', path: '/a/b/0', value: 2 }], 'testing value'],
    [[{ op: 'swap', path: '/a' }], 'Unexpected kind'],
    [{ op: 'add' }, 'not a list'],
    [['x'], 'needs "op"'],
  ])('rejects %j', (patch, complaint) => {
    expect(refusalOf(patch)).toContain(complaint);
  });
});

describe('merge patch', () => {
  test.each([
    [{ a: 1, b: { c: 2 } }, { b: { c: null, d: 3 } }, { a: 1, b: { d: 3 } }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: 1 }, { a: { b: null } }, { a: {} }],
  ])('%j + %j', (document, patch, expected) => {
    expect(applyMergePatch(document, patch)).toEqual(expected);
  });

  test('has the same result when a patch is applied twice', () => {
    fc.assert(
      fc.property(fc.object(), fc.object(), (document, patch) => {
        const once = applyMergePatch(document, patch);
        expect(applyMergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});

describe('strategic merge patch', () => {
  const deployment = builtInSchema({ group: 'apps', version: 'v1', kind: 'Deployment' });
  const containers = (list: unknown) => ({ spec: { template: { spec: { containers: list } } } });
  const two = containers([
    { name: 'a', image: 'a:1', args: ['x'] },
    { name: 'b', image: 'b:1' },
  ]);
  test.each([
    [
      'merges items by key',
      [{ name: 'b', image: 'b:2' }],
      [
        { name: 'a', image: 'a:1', args: ['x'] },
        { name: 'b', image: 'b:2' },
      ],
    ],
    [
      'puts new items before items that the patch does not name',
      [{ name: 'c' }],
      [{ name: 'c' }, { name: 'a', image: 'a:1', args: ['x'] }, { name: 'b', image: 'b:1' }],
    ],
    ['deletes items', [{ name: 'a', $patch: 'delete' }], [{ name: 'b', image: 'b:1' }]],
    ['replaces the list', [{ $patch: 'replace' }, { name: 'z' }], [{ name: 'z' }]],
    [
      'replaces atomic lists',
      [{ name: 'a', args: ['y'] }],
      [
        { name: 'a', image: 'a:1', args: ['y'] },
        { name: 'b', image: 'b:1' },
      ],
    ],
  ])('%s', (_, patch, expected) => {
    expect(applyStrategicMergePatch(deployment, two, containers(patch))).toEqual(
      containers(expected),
    );
  });

  test('follows the element order and drops keys that are not retained', () => {
    const patch = {
      spec: {
        template: { spec: { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] } },
        strategy: { $retainKeys: ['type'], type: 'Recreate' },
      },
    };
    const document = {
      spec: { ...two.spec, strategy: { type: 'RollingUpdate', rollingUpdate: {} } },
    };
    const result = applyStrategicMergePatch(deployment, document, patch);
    expect(result).toMatchObject({ spec: { strategy: { type: 'Recreate' } } });
    expect(result['spec']).not.toHaveProperty('strategy.rollingUpdate');
    expect(result).toMatchObject(containers([{ name: 'b' }, { name: 'a' }]));
  });

  test('adds to and deletes from lists of primitive values', () => {
    const document = { metadata: { finalizers: ['a', 'b'], labels: { x: '1', y: '2' } } };
    expect(
      applyStrategicMergePatch(deployment, document, {
        metadata: {
          finalizers: ['b', 'c'],
          '$deleteFromPrimitiveList/finalizers': ['a'],
          labels: { x: null },
        },
      }),
    ).toEqual({ metadata: { finalizers: ['b', 'c'], labels: { y: '2' } } });
  });

  test('rejects an item without its key', () => {
    expect(() => applyStrategicMergePatch(deployment, two, containers([{ image: 'x' }]))).toThrow(
      'does not contain declared merge key: name',
    );
  });
});
