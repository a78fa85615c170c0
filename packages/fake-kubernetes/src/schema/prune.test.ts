import { describe, expect, test } from 'vitest';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { pruneObject } from './prune.ts';

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

describe('pruneObject', () => {
  test('keeps the fields of the schema, the type and the metadata', () => {
    const object = {
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: { name: 'x', anything: true },
      spec: {
        replicas: 1,
        colour: 'red',
        free: { any: { depth: 1 } },
        ports: [{ proto: 'UDP', tone: 1 }],
      },
      status: { phase: 'on' },
    };
    expect(pruneObject(schema, object)).toEqual({
      value: {
        apiVersion: 'example.com/v1',
        kind: 'Thing',
        metadata: { name: 'x', anything: true },
        spec: { replicas: 1, free: { any: { depth: 1 } }, ports: [{ proto: 'UDP' }] },
      },
      unknown: ['spec.colour', 'spec.ports[0].tone', 'status'],
    });
  });
});
