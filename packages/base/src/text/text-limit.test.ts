import { expect, test } from 'vitest';
import { quoted } from './text-limit.ts';

test('a short text is quoted as it is', () => {
  expect(quoted('1h "x"')).toBe('"1h \\"x\\""');
});

test('a message shows the start of a long text, and how long the text is', () => {
  const message = quoted('9'.repeat(200_000));
  expect(message).toBe(`"${'9'.repeat(64)}"… (200000 characters)`);
});
