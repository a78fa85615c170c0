import type { Address } from '@causeway/base/address/address';
import type { GuardReport } from '../../../services/guard-register.ts';

/** A Service with an address that is in no list any more. */
export interface UnlistedAddress {
  readonly address: Address;
  /** `namespace/name` of the Service. */
  readonly service: string;
}

const mostNamed = 20;

/** The guard's report about addresses that left the list while Services use them; undefined without any. */
export function reportUnlisted(found: readonly UnlistedAddress[]): GuardReport | undefined {
  if (found.length === 0) return undefined;
  const sorted = [...found].sort((left, right) => (left.service < right.service ? -1 : 1));
  const names = sorted.slice(0, mostNamed).map(({ service, address }) => `${service} ${address}`);
  const rest = found.length > mostNamed ? ` and ${found.length - mostNamed} more` : '';
  const message = `${found.length} Services keep addresses that are in no list (gateway.addresses, gateway.retiringAddresses): ${names.join(', ')}${rest}. They stay served. Restore the list, or retire the addresses.`;
  return { held: found.length, message };
}
