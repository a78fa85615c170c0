import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutManagedFields } from './managed-fields.ts';

const hostile = fc.constantFrom(
  '"managedFields":[',
  '\\"managedFields\\":[]',
  '{',
  ']',
  '"',
  '\\',
  'managedFields',
);
const key = fc.oneof(
  fc.constantFrom('managedFields', 'metadata', 'spec', 'name'),
  hostile,
  // Numeric keys would be ordered before all others.
  fc.string().map((name) => `k${name}`),
);
const text = fc.oneof(hostile, fc.string({ unit: 'grapheme' }));
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.constantFrom(null, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value;
const fields = fc.dictionary(key, json, { maxKeys: 4 });

/**
 * Objects as servers write them: the type first, with or without managed fields, hostile content everywhere.
 */
const event = fc
  .record({
    metadata: fields,
    managedFields: fc.option(fc.array(json, { maxLength: 3 }), { nil: undefined }),
    rest: fields,
    isFirst: fc.boolean(),
    kindFirst: fc.boolean(),
  })
  .map(({ metadata, managedFields, rest, isFirst, kindFirst }) => {
    const { managedFields: _, ...others } = metadata;
    const managed = managedFields === undefined ? {} : { managedFields };
    const type = kindFirst
      ? { kind: 'Service', apiVersion: 'v1' }
      : { apiVersion: 'a.b/v1', kind: 'A' };
    const { kind: _kind, apiVersion: _version, metadata: _metadata, ...more } = rest;
    return {
      type: 'ADDED',
      object: {
        ...type,
        metadata: isFirst ? { ...managed, ...others } : { ...others, ...managed },
        ...more,
      },
    };
  });

describe('withoutManagedFields', () => {
  it('removes exactly the managed fields, for any other content', () => {
    fc.assert(
      fc.property(event, (whole) => {
        const stripped: unknown = JSON.parse(withoutManagedFields(JSON.stringify(whole)));
        const { managedFields: _, ...metadata } = whole.object.metadata as Record<string, unknown>;
        const wanted = { ...whole, object: { ...whole.object, metadata } };
        expect(stripped).toEqual(JSON.parse(JSON.stringify(wanted)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves a different layout unchanged', () => {
    const line = '{"object":{"metadata":{"managedFields":[{}]}},"type":"ADDED"}';
    expect(withoutManagedFields(line)).toBe(line);
    const cut =
      '{"type":"ADDED","object":{"kind":"A","apiVersion":"v1","metadata":{"managedFields":[{"a';
    expect(withoutManagedFields(cut)).toBe(cut);
  });
});
