import { assert, object, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { applyDefaults } from './default.ts';

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

describe('applyDefaults', () => {
  test.each([
    ['fills defaults into defaults', {}, { replicas: 1, strategy: { kind: 'rolling', surge: 2 } }],
    [
      'keeps given values and drops nulls that are not allowed',
      { spec: { replicas: 3, note: null, maybe: null, strategy: {}, ports: [{}] } },
      { replicas: 3, maybe: null, strategy: { surge: 2 }, ports: [{ proto: 'TCP' }] },
    ],
    [
      'treats null as absent if the field has a default',
      { spec: { replicas: null } },
      { replicas: 1, strategy: { kind: 'rolling', surge: 2 } },
    ],
  ])('%s', (_, given, spec) => {
    expect(applyDefaults(schema, given)).toEqual({ spec });
  });

  test('is idempotent', () => {
    assert(
      property(object(), (spec) => {
        const once = applyDefaults(schema, { spec });
        expect(applyDefaults(schema, once)).toEqual(once);
      }),
    );
  });
});
