import { expect, test } from 'vitest';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import { ledgerId } from './ledger-id.ts';

const { signal } = new AbortController();

test('gives a ledger one id, whichever server asks first, and another ledger a different one', async () => {
  const ledger = new MemoryLedger();
  const ids = await Promise.all([ledgerId(ledger, signal), ledgerId(ledger, signal)]);
  expect(new Set([...ids, await ledgerId(ledger, signal)]).size).toBe(1);
  expect(ids[0]).toMatch(/^[0-9a-f]{12}$/);
  expect(await ledgerId(new MemoryLedger(), signal)).not.toBe(ids[0]);
});
