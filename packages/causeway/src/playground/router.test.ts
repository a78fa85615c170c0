import { expect, test } from 'vitest';
import { translation } from './router.ts';

test('translates floating addresses one to one, both ways, in one transaction', () => {
  expect(translation([['203.0.113.3', '10.10.0.7']]).split('\n')).toEqual([
    'flush map ip floating inward',
    'flush map ip floating outward',
    'add element ip floating inward { 203.0.113.3 : 10.10.0.7 }',
    'add element ip floating outward { 10.10.0.7 : 203.0.113.3 }',
    '',
  ]);
});
