import type { Family } from '@causeway/base/address/address';
import { parsePrefix, prefixFamily } from '@causeway/base/address/prefix';

/** Stands for an empty set of sources: an empty list would allow every source. */
const noSource: Readonly<Record<Family, string>> = { 4: '127.0.0.1/32', 6: '::1/128' };

export interface AllowedSources {
  /** null: every source. */
  readonly allowed: readonly string[] | null;
  /** Sources that can't be allowed: Octavia accepts only sources of the family of the VIP. */
  readonly leftOut: readonly string[];
}

export function allowedSources(
  cidrs: readonly string[] | undefined,
  family: Family,
): AllowedSources {
  if (cidrs === undefined) return { allowed: null, leftOut: [] };
  const isOwn = (cidr: string) => prefixFamily(parsePrefix(cidr)) === family;
  const allowed = cidrs.filter(isOwn);
  const meant = cidrs.filter((cidr) => !Object.values(noSource).includes(cidr));
  return {
    allowed: allowed.length === 0 ? [noSource[family]] : allowed,
    leftOut: meant.filter((cidr) => !isOwn(cidr)),
  };
}
