import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { keys } from './keys.ts';
import type { Ledger } from './ledger.ts';

const recordSchema = z.looseObject({ id: z.string() });

/**
 * ID of the ledger where several ledgers work side by side, such as in a cloud's project. It is created on
 * first use and stored with the records: unlike the store's identity, it is part of a backup and a move.
 */
export async function ledgerId(ledger: Ledger, signal: AbortSignal): Promise<string> {
  const key = keys.ledgerId();
  const present = await read(ledger, signal);
  if (present !== undefined) return present;
  const id = randomBytes(6).toString('hex');
  const write = { key, value: JSON.stringify({ id }) };
  await ledger.commit({ conditions: [{ key, revision: 0 }], writes: [write] }, signal);
  // Another server may have written it first.
  return (await read(ledger, signal)) ?? id;
}

async function read(ledger: Ledger, signal: AbortSignal): Promise<string | undefined> {
  const key = keys.ledgerId();
  const { entries } = await ledger.load(key, signal);
  const entry = entries.find((each) => each.key === key);
  return entry === undefined ? undefined : recordSchema.parse(JSON.parse(entry.value)).id;
}
