import { describe, expect, test } from 'vitest';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { validateValue } from './validate.ts';

const errorsOf = (schema: Schema, value: unknown) =>
  validateValue(schema, value).map((error) => `${error.reason} ${error.field}: ${error.message}`);

const spec = (schema: Schema): Schema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties: { field: schema } } },
});

/** Title, schema of `spec.field`, a valid value, an invalid value, and the errors of the latter. */
const table: readonly (readonly [string, Schema, unknown, unknown, readonly string[]])[] = [
  [
    'type integer',
    { type: 'integer' },
    3,
    'three',
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "string": spec.field in body must be of type integer: "string"',
    ],
  ],
  [
    'an integer is a number',
    { type: 'number' },
    3,
    true,
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "boolean": spec.field in body must be of type number: "boolean"',
    ],
  ],
  [
    'a fraction is not an integer',
    { type: 'integer' },
    3,
    3.5,
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "number": spec.field in body must be of type integer: "number"',
      'FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.field',
    ],
  ],
  [
    'null where it is not allowed',
    { type: 'string' },
    'x',
    null,
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "null": spec.field in body must be of type string: "null"',
    ],
  ],
  [
    'null where it is allowed',
    { type: 'string', nullable: true },
    null,
    1,
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "integer": spec.field in body must be of type string: "integer"',
    ],
  ],
  [
    'enum',
    { type: 'string', enum: ['a', 'b'] },
    'a',
    'c',
    ['FieldValueNotSupported spec.field: Unsupported value: "c": supported values: "a", "b"'],
  ],
  [
    'pattern',
    { type: 'string', pattern: '^[a-z]+$' },
    'abc',
    'ABC',
    [
      'FieldValueInvalid spec.field: Invalid value: "ABC": spec.field in body should match \'^[a-z]+$\'',
    ],
  ],
  [
    'maximum',
    { type: 'integer', maximum: 5 },
    5,
    6,
    [
      'FieldValueInvalid spec.field: Invalid value: 6: spec.field in body should be less than or equal to 5',
    ],
  ],
  [
    'exclusive minimum',
    { type: 'integer', minimum: 1, exclusiveMinimum: true },
    2,
    1,
    ['FieldValueInvalid spec.field: Invalid value: 1: spec.field in body should be greater than 1'],
  ],
  [
    'multiple',
    { type: 'integer', multipleOf: 2 },
    4,
    3,
    [
      'FieldValueInvalid spec.field: Invalid value: 3: spec.field in body should be a multiple of 2',
    ],
  ],
  [
    'maximum length',
    { type: 'string', maxLength: 2 },
    'ab',
    'abc',
    ['FieldValueTooLong spec.field: Too long: may not be more than 2 bytes'],
  ],
  [
    'minimum length',
    { type: 'string', minLength: 2 },
    'ab',
    'a',
    [
      'FieldValueInvalid spec.field: Invalid value: "a": spec.field in body should be at least 2 chars long',
    ],
  ],
  [
    'minimum number of items',
    { type: 'array', items: { type: 'string' }, minItems: 1 },
    ['a'],
    [],
    [
      'FieldValueInvalid spec.field: Invalid value: 0: spec.field in body should have at least 1 items',
    ],
  ],
  [
    'maximum number of items',
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['a'],
    ['a', 'b'],
    ['FieldValueTooMany spec.field: Too many: 2: must have at most 1 item'],
  ],
  [
    'items',
    { type: 'array', items: { type: 'string' } },
    ['a'],
    ['a', 1],
    [
      'FieldValueTypeInvalid spec.field[1]: Invalid value: "integer": spec.field[1] in body must be of type string: "integer"',
    ],
  ],
  [
    'required',
    { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    { name: 'x' },
    {},
    ['FieldValueRequired spec.field.name: Required value'],
  ],
  [
    'values of a map',
    { type: 'object', additionalProperties: { type: 'integer' } },
    { any: 1 },
    { any: 'x' },
    [
      'FieldValueTypeInvalid spec.field.any: Invalid value: "string": spec.field.any in body must be of type integer: "string"',
    ],
  ],
  [
    'integer or string',
    { 'x-kubernetes-int-or-string': true },
    '80%',
    true,
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "boolean": spec.field in body must be of type integer,string: "boolean"',
    ],
  ],
  [
    'format ipv4',
    { type: 'string', format: 'ipv4' },
    '192.0.2.1',
    '2001:db8::1',
    [
      'FieldValueTypeInvalid spec.field: Invalid value: "2001:db8::1": spec.field in body must be of type ipv4: "2001:db8::1"',
    ],
  ],
  [
    'one of',
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      oneOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    { a: 'x' },
    { a: 'x', b: 'y' },
    [
      'FieldValueInvalid <nil>: Invalid value: "": "spec.field" must validate one and only one schema (oneOf). Found 2 valid alternatives',
    ],
  ],
  [
    'any of',
    { type: 'integer', anyOf: [{ minimum: 10 }, { maximum: 2 }] },
    1,
    5,
    [
      'FieldValueInvalid <nil>: Invalid value: "": "spec.field" must validate at least one schema (anyOf)',
      'FieldValueInvalid spec.field: Invalid value: 5: spec.field in body should be greater than or equal to 10',
    ],
  ],
  [
    'not',
    { type: 'string', not: { enum: ['root'] } },
    'x',
    'root',
    ['FieldValueInvalid <nil>: Invalid value: "": "spec.field" must not validate the schema (not)'],
  ],
];

describe('validateValue', () => {
  test.each(table)('%s', (_, schema, good, bad, errors) => {
    expect(errorsOf(spec(schema), { spec: { field: good } })).toEqual([]);
    expect(errorsOf(spec(schema), { spec: { field: bad } })).toEqual(errors);
  });

  test('names a required field at the root without a leading dot', () => {
    expect(errorsOf({ type: 'object', required: ['spec'] }, {})).toEqual([
      'FieldValueRequired spec: Required value',
    ]);
  });
});
