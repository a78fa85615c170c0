import { expect, test } from 'vitest';
import { formatDelta, formatPin, parsePin, readDelta } from './pins.ts';

const texts = [
  '198.51.100.7 40000 192.0.2.1 80 10.79.1.2 8080',
  '2001:db8::7 40000 2001:db8::1 80 fd00::2 8080',
];

test.each(texts)('%s is read and written', (text) => {
  expect(formatPin(parsePin(text))).toBe(text);
});

test.each([
  '',
  '198.51.100.7 40000 192.0.2.1 80 10.79.1.2',
  '198.51.100.7 40000 192.0.2.1 80 10.79.1.2 8080 9',
  '198.51.100.7 0 192.0.2.1 80 10.79.1.2 8080',
  '198.51.100.7 x 192.0.2.1 80 10.79.1.2 8080',
  '2001:db8::7 40000 192.0.2.1 80 10.79.1.2 8080',
  '198.51.100.7 40000 192.0.2.1 80 fd00::2 8080',
])('%j is no pin', (text) => {
  expect(() => parsePin(text)).toThrow();
});

test('a delta is read as it was written, and another answer is rejected', () => {
  const cursor = { epoch: 'e', version: 3 };
  const delta = { cursor, set: texts.map(parsePin), removed: [] };
  expect(readDelta(JSON.parse(JSON.stringify(formatDelta(delta))))).toEqual(delta);
  expect(() => readDelta({ cursor, set: 'all', removed: [] })).toThrow("agent's pins");
});
