import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleService, sampleServices } from '../../../../../../test/browser/sample-rows.ts';
import { prepareSearch, searchRows } from './search-index.ts';

test('prepares the search within the given time', () => {
  const rows = sampleServices.map((row) => ({ ...row }));
  let left = 2;
  const forAWhile = () => {
    left -= 1;
    return left >= 0;
  };
  expect(prepareSearch(rows, forAWhile)).toBe(false);
  expect(prepareSearch(rows, () => true)).toBe(true);
  expect(prepareSearch(rows, () => false)).toBe(true);
});

test('finds the same rows as a search row by row', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/'), minLength: 1, maxLength: 4 });
  const nothing = { provider: '', reason: '', addresses: [], ports: [] };
  const few = fc.array(letters, { maxLength: 8 });
  fc.assert(
    fc.property(few, fc.array(letters, { minLength: 1, maxLength: 3 }), (keys, words) => {
      const rows = keys.map((type) => sampleService(`c/${type}`, { ...nothing, type }));
      const expected = rows.filter(({ key }) => words.every((word) => key.includes(word)));
      expect(searchRows(rows, words)).toEqual(expected);
    }),
  );
});
