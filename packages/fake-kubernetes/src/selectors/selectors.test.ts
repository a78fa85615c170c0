import { describe, expect, test } from 'vitest';
import { parseFieldSelector } from './field-selector.ts';
import { matchesLabels, parseLabelSelector } from './label-selector.ts';

describe('label selectors', () => {
  const labels = { app: 'web', tier: 'front', size: '5', 'example.com/zone': 'a' };
  test.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app=db', false],
    ['app!=db', true],
    ['missing!=db', true],
    ['app in (db, web)', true],
    ['app notin (db,web)', false],
    ['missing notin (x)', true],
    ['tier', true],
    ['!tier', false],
    ['!missing,app=web', true],
    ['size>4', true],
    ['size<5', false],
    ['example.com/zone in (a)', true],
    ['app=', false],
  ])('%s', (selector, expected) => {
    expect(matchesLabels(parseLabelSelector(selector), labels)).toBe(expected);
  });

  test.each(['a=b=c', 'a in b', ',', 'a>x', '=x', 'a=$'])('rejects %s', (selector) => {
    expect(() => parseLabelSelector(selector)).toThrow('unable to parse requirement');
  });
});

describe('field selectors', () => {
  test('supports escapes', () => {
    expect(parseFieldSelector(String.raw`metadata.name=x,spec.a!=b\,c\=d`)).toEqual([
      { field: 'metadata.name', equal: true, value: 'x' },
      { field: 'spec.a', equal: false, value: 'b,c=d' },
    ]);
    expect(parseFieldSelector('')).toEqual([]);
    expect(() => parseFieldSelector('metadata.name')).toThrow('invalid selector');
  });
});
