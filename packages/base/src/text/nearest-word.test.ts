import { expect, test } from 'vitest';
import { nearestWord } from './nearest-word.ts';

test.each([
  ['agents', 'agent'],
  ['sharedsecret', 'sharedSecret'],
  ['lisetn', 'listen'],
  ['zzzzzz', undefined],
])('%s most likely meant %s', (written, meant) => {
  expect(nearestWord(written, ['agent', 'listen', 'sharedSecret'])).toBe(meant);
});
