import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from './secret.ts';

it('reveals its value only through reveal()', () => {
  const secret = new Secret('hunter2');
  const around = { deep: { list: [secret] } };
  for (const text of [
    String(secret),
    JSON.stringify(around),
    inspect(around, { depth: 9, showHidden: true }),
    inspect(new Error('x', { cause: around })),
  ]) {
    expect(text).not.toContain('hunter2');
  }
  expect(secret.reveal()).toBe('hunter2');
  expect(secret.removeFrom('bad password hunter2 (hunter2)')).toBe(
    'bad password [secret] ([secret])',
  );
});
