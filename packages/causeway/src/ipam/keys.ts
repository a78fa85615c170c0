import type { Address } from '@causeway/base/address/address';

/** All state that decisions depend on; the view holds it in memory. */
export const stateRoot = 'state/';
/** The audit log: only appended to and pruned. */
export const auditRoot = 'audit/';

/** Names have no slash (names.ts), so the parts of a key are unambiguous. */
export const keys = {
  /** Identity of the store that the ledger was written to. */
  identity: () => 'state/identity',
  /** ID of the ledger for other systems; it moves with the records. */
  ledgerId: () => 'state/ledger',
  /** Written to find out whether the ledger accepts writes. It is not part of the state. */
  probe: () => 'probe/write',
  site: (site: string) => `state/site/${site}`,
  queue: (site: string) => `state/queue/${site}`,
  cluster: (site: string, cluster: string) => `state/cluster/${site}/${cluster}`,
  beat: (site: string, cluster: string) => `state/beat/${site}/${cluster}`,
  address: (site: string, address: Address) => `state/address/${site}/${address}`,
  tombstone: (site: string, cluster: string, epoch: string) =>
    `state/tombstone/${site}/${cluster}/${epoch}`,
  waiter: (site: string, cluster: string, uid: string) => `state/waiter/${site}/${cluster}/${uid}`,
  credential: (id: string) => `state/credential/${id}`,
  /** Thirteen digits sort as numbers until the year 2286. */
  audit: (atMs: number, id: string) => `audit/${auditTime(atMs)}-${id}`,
};

export function auditTime(atMs: number): string {
  return String(Math.max(0, Math.floor(atMs))).padStart(13, '0');
}

export interface KeyParts {
  readonly kind: string;
  readonly site: string;
  readonly rest: readonly string[];
}

export function partsOfKey(key: string): KeyParts {
  const [, kind = '', site = '', ...rest] = key.split('/');
  return { kind, site, rest };
}
