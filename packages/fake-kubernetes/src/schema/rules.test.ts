import { describe, expect, test } from 'vitest';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { hasRules, validateRules } from './rules.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      'x-kubernetes-validations': [
        { rule: 'self.min <= self.max', message: 'min may not exceed max' },
        { rule: 'duration("1h") > duration("1m")' },
      ],
      properties: {
        min: { type: 'integer' },
        max: { type: 'integer' },
        fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
        named: {
          type: 'object',
          additionalProperties: {
            type: 'integer',
            'x-kubernetes-validations': [
              { rule: 'self > 0', messageExpression: '"got " + string(self)' },
            ],
          },
        },
      },
    },
  },
};

const object = (spec: object) => ({ metadata: { name: 'x' }, spec });
const errorsOf = (spec: object, old?: object) =>
  validateRules(schema, object(spec), old === undefined ? undefined : object(old)).map(
    ({ field, message }) => `${field}: ${message}`,
  );

describe('validateRules', () => {
  test.each<readonly [string, object, object | undefined, readonly string[]]>([
    ['holds', { min: 1, max: 2 }, undefined, []],
    [
      'does not hold',
      { min: 3, max: 2 },
      undefined,
      ['spec: Invalid value: min may not exceed max'],
    ],
    [
      'cannot be evaluated',
      { min: 1 },
      undefined,
      ['spec: Invalid value: "object": no such key: max evaluating rule: min may not exceed max'],
    ],
    [
      'checks the values of a map',
      { min: 1, max: 2, named: { a: 1, b: -1 } },
      undefined,
      ['spec.named[b]: Invalid value: -1: got -1'],
    ],
    ['compares with a missing old value', { min: 1, max: 2, fixed: 'a' }, undefined, []],
    [
      'compares with the old value',
      { min: 1, max: 2, fixed: 'b' },
      { min: 1, max: 2, fixed: 'a' },
      ['spec.fixed: Invalid value: "b": failed rule: self == oldSelf'],
    ],
  ])('handles a rule that %s', (_, spec, old, errors) => {
    expect(errorsOf(spec, old)).toEqual(errors);
  });

  test('finds rules in a schema', () => {
    expect(hasRules(schema)).toBe(true);
    expect(hasRules({ type: 'object', properties: { a: { type: 'string' } } })).toBe(false);
  });
});
