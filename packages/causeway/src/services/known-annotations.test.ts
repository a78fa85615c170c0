import { expect, test } from 'vitest';
import { unknownAnnotations } from './known-annotations.ts';

test.each([
  [{}, undefined],
  [{ 'causeway.dev/address': '', 'example.com/adress': '', 'causeway.device/x': '' }, undefined],
  [
    { 'causeway.dev/adress': '' },
    'The annotation causeway.dev/adress is not known: is causeway.dev/address meant?',
  ],
  [
    { 'causeway.dev/sharingkey': '' },
    'The annotation causeway.dev/sharingkey is not known: is causeway.dev/sharing-key meant?',
  ],
  [{ 'causeway.dev/flux': '' }, 'The annotation causeway.dev/flux is not known'],
  [
    { 'causeway.dev/weight': '3' },
    'causeway.dev/weight has no effect on a Service: write it on pods',
  ],
])('%j', (annotations, message) => {
  expect(unknownAnnotations(annotations)).toBe(message);
});

test('names at most three', () => {
  const many = Object.fromEntries(
    ['q1', 'q2', 'q3', 'q4', 'q5'].map((x) => [`causeway.dev/${x}${x}`, '']),
  );
  expect(unknownAnnotations(many)).toMatch(/; and 2 more$/);
});
