import { describe, expect, test } from 'vitest';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { validateListTypes } from './list-types.ts';

describe('validateListTypes', () => {
  const lists: Schema = {
    type: 'object',
    properties: {
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      map: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', properties: { name: { type: 'string' } } },
      },
    },
  };
  test.each([
    [{ set: ['a', 'b'], map: [{ name: 'a' }, { name: 'b' }] }, []],
    [{ set: ['a', 'a', 'a'] }, ['set[1]: Duplicate value: "a"']],
    [{ map: [{ name: 'a' }, { name: 'a', x: 1 }] }, ['map[1]: Duplicate value: {"name":"a"}']],
  ])('%j', (value, errors) => {
    const found = validateListTypes(lists, value);
    expect(found.map((error) => `${error.field}: ${error.message}`)).toEqual(errors);
  });
});
