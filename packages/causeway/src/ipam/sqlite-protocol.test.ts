import { expect, test } from 'vitest';
import { sqliteError } from './sqlite-protocol.ts';

test.each([
  ['database or disk is full', 'exhausted', 'room again'],
  ['ENOSPC: no space left on device, open', 'exhausted', 'room again'],
  ['database is locked', 'unavailable', 'Another server'],
  ['disk I/O error', 'unavailable', 'Check the file'],
])('%s is %s', (message, code, hint) => {
  const error = sqliteError(message);
  expect(error.code).toBe(code);
  expect(error.hint).toContain(hint);
});
