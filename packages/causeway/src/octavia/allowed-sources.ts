import type { Family } from '@causeway/base/address/address';
import { parsePrefix, prefixFamily } from '@causeway/base/address/prefix';

/** Stands for nobody: an empty list would let everybody in. */
const nobody: Readonly<Record<Family, string>> = { 4: '127.0.0.1/32', 6: '::1/128' };

export interface AllowedSources {
  /** null: everybody. */
  readonly allowed: readonly string[] | null;
  /** What can't be allowed: Octavia takes sources of the family of the VIP only, and refuses the rest. */
  readonly leftOut: readonly string[];
}

export function allowedSources(
  cidrs: readonly string[] | undefined,
  family: Family,
): AllowedSources {
  if (cidrs === undefined) return { allowed: null, leftOut: [] };
  const isOwn = (cidr: string) => prefixFamily(parsePrefix(cidr)) === family;
  const allowed = cidrs.filter(isOwn);
  const meant = cidrs.filter((cidr) => !Object.values(nobody).includes(cidr));
  return {
    allowed: allowed.length === 0 ? [nobody[family]] : allowed,
    leftOut: meant.filter((cidr) => !isOwn(cidr)),
  };
}
