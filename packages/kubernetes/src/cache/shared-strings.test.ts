import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareStrings } from './shared-strings.ts';

test('sharing strings does not change a value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify([value]);
      const copy = JSON.parse(text) as object;
      shareStrings(copy);
      expect(JSON.stringify(copy)).toBe(text);
    }),
  );
});

test('more strings than the limit do no harm', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => ({ name: `service-${index}` }));
  const copy = structuredClone(many);
  shareStrings(copy);
  expect(copy).toEqual(many);
});
