import fs from 'node:fs/promises';
import { mintToken, presentToken, type MintedToken } from './credential.ts';
import { keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { CredentialRecord } from './records.ts';

/** Writes an operator's credential directly into a ledger. This is how the first operator is created. */
export async function createOperator(
  ledger: Ledger,
  note: string,
  now: number,
  signal: AbortSignal,
): Promise<string> {
  const minted = mintToken();
  await addOperator(ledger, minted, note, now, signal);
  return minted.token;
}

/**
 * The same unless the ledger has an operator; returns whether it created one. The token is written to the
 * file before it is valid. After an interruption the next run continues with it, so that no credential
 * without a known token remains.
 */
export async function createFirstOperator(
  ledger: Ledger,
  credentialFile: string,
  note: string,
  now: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (await hasOperator(ledger, signal)) return false;
  const minted = (await readToken(credentialFile)) ?? mintToken();
  await writeToken(minted.token, credentialFile);
  await addOperator(ledger, minted, note, now, signal);
  return true;
}

/** Writes a secret to a file that only its owner can read. */
export async function writeToken(token: string, file: string): Promise<void> {
  await fs.writeFile(file, `${token}\n`, { mode: 0o600 });
}

async function addOperator(
  ledger: Ledger,
  { id, hash }: Omit<MintedToken, 'token'>,
  note: string,
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const record: CredentialRecord = {
    id,
    hash,
    kind: 'token',
    role: 'operator',
    note,
    createdAt: now,
  };
  const audit = {
    at: now,
    actor: 'system',
    action: 'issue-credential',
    detail: { credential: id },
  };
  const writes = [
    { key: keys.credential(id), value: JSON.stringify(record) },
    { key: keys.audit(now, id), value: JSON.stringify(audit) },
  ];
  await ledger.commit({ conditions: [], writes }, signal);
}

async function hasOperator(ledger: Ledger, signal: AbortSignal): Promise<boolean> {
  const { entries } = await ledger.load(keys.credential(''), signal);
  return entries.some(({ value }) => (JSON.parse(value) as CredentialRecord).role === 'operator');
}

/** The token of an earlier attempt; undefined if it is missing or incomplete. */
async function readToken(file: string): Promise<MintedToken | undefined> {
  const token = (await fs.readFile(file, 'utf8').catch(() => '')).trim();
  const presented = presentToken(token);
  return presented === undefined ? undefined : { ...presented, token };
}
