import { expect, test } from 'vitest';
import { quoted } from './text-limit.ts';

test('quotes a short text completely', () => {
  expect(quoted('1h "x"')).toBe('"1h \\"x\\""');
});

test('shows the start and the length of a long text', () => {
  const message = quoted('9'.repeat(200_000));
  expect(message).toBe(`"${'9'.repeat(64)}"… (200000 characters)`);
});
