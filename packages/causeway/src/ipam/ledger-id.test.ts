import { expect, test } from 'vitest';
import { MemoryLedger } from '../../../../test/doubles/memory-ledger.ts';
import { ledgerId } from './ledger-id.ts';

const { signal } = new AbortController();

test('a ledger has one id, whoever asks first, and another one has another', async () => {
  const ledger = new MemoryLedger();
  const ids = await Promise.all([ledgerId(ledger, signal), ledgerId(ledger, signal)]);
  expect(new Set([...ids, await ledgerId(ledger, signal)]).size).toBe(1);
  expect(ids[0]).toMatch(/^[0-9a-f]{12}$/);
  expect(await ledgerId(new MemoryLedger(), signal)).not.toBe(ids[0]);
});
