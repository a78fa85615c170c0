import { describe, expect, test } from 'vitest';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { validateStructural } from './structural.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      default: {},
      properties: {
        replicas: { type: 'integer', default: 1 },
        note: { type: 'string' },
        maybe: { type: 'string', nullable: true },
        strategy: {
          type: 'object',
          default: { kind: 'rolling' },
          properties: { kind: { type: 'string' }, surge: { type: 'integer', default: 2 } },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        ports: {
          type: 'array',
          items: { type: 'object', properties: { proto: { type: 'string', default: 'TCP' } } },
        },
      },
    },
  },
};

describe('validateStructural', () => {
  test.each<readonly [string, Schema, readonly string[]]>([
    ['accepts a structural schema', schema, []],
    [
      'rejects fields without a type',
      { type: 'object', properties: { spec: {} } },
      ['s.properties[spec].type: Required value: must not be empty for specified object fields'],
    ],
    [
      'rejects an array without items',
      { type: 'object', properties: { spec: { type: 'array' } } },
      ['s.properties[spec].items: Required value: must be specified'],
    ],
    [
      'rejects a root that is not an object',
      { type: 'string' },
      ['s.type: Invalid value: "string": must be object at the root'],
    ],
    [
      'rejects types inside of alternatives',
      { type: 'object', properties: { a: { type: 'string', anyOf: [{ type: 'string' }] } } },
      ['s.properties[a].anyOf[0].type: Forbidden: must be empty to be structural'],
    ],
    [
      'accepts an integer or a string',
      {
        type: 'object',
        properties: {
          a: {
            'x-kubernetes-int-or-string': true,
            anyOf: [{ type: 'integer' }, { type: 'string' }],
          },
        },
      },
      [],
    ],
    [
      'rejects fields that only an alternative defines',
      { type: 'object', anyOf: [{ properties: { a: { enum: [1] } } }] },
      ['s.properties[a]: Required value: because it is defined in s.anyOf[0].properties[a]'],
    ],
    [
      'rejects restrictions of metadata',
      { type: 'object', properties: { metadata: { type: 'object', required: ['labels'] } } },
      [
        's.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
      ],
    ],
  ])('%s', (_, given, errors) => {
    const found = validateStructural(given, 's');
    expect(found.map((error) => `${error.field}: ${error.message}`)).toEqual(errors);
  });
});
