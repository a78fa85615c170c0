import { keys } from './keys.ts';
import type { Ledger } from './ledger.ts';
import type { CredentialRecord } from './records.ts';
import { mintToken } from './credential.ts';

/** Puts an operator's credential into a ledger, from beside it: how the first one comes to be. */
export async function createOperator(
  ledger: Ledger,
  note: string,
  now: number,
  signal: AbortSignal,
): Promise<string> {
  const { id, hash, token } = mintToken();
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
  return token;
}
