import { expect, test } from 'vitest';
import { nearestWord } from './nearest-word.ts';

test.each([
  ['agents', 'agent'],
  ['sharedsecret', 'sharedSecret'],
  ['lisetn', 'listen'],
  ['zzzzzz', undefined],
])('suggests for %s the word %s', (written, meant) => {
  expect(nearestWord(written, ['agent', 'listen', 'sharedSecret'])).toBe(meant);
});
