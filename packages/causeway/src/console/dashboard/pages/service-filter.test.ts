import { expect, test } from 'vitest';
import { sampleServices } from '../../../../../../test/browser/sample-rows.ts';
import { countStates, filterServices } from './service-filter.ts';

const keys = (search: string, state: Parameters<typeof filterServices>[1]['state'] = 'all') =>
  filterServices(sampleServices, { search, state }).map(({ key }) => key);

test.each([
  ['', ['shop/web', 'shop/api', 'shop/search', 'night/batch', 'legacy/erp']],
  ['shop', ['shop/web', 'shop/api', 'shop/search']],
  ['SHOP  api', ['shop/api']],
  ['203.0.113.10 serving', ['shop/web']],
  ['west', ['legacy/erp']],
  ['nothing like it', []],
])('%j finds %j', (search, expected) => {
  expect(keys(search)).toEqual(expected);
});

test('filters by state', () => {
  expect(keys('', 'not-served')).toEqual(['shop/api']);
  expect(keys('', 'outside')).toHaveLength(5);
  expect(countStates(sampleServices).get('idle')).toBe(1);
});
