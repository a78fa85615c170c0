import type { Address } from '@causeway/base/address/address';
import { prefixContains, type Prefix } from '@causeway/base/address/prefix';
import { isUnroutable } from '@causeway/base/address/unroutable-address';

/**
 * Why a member can't be an endpoint; undefined if it can. One address that the API server refuses would make
 * the whole slice invalid, and with it the endpoints of all others. Without member networks, any address is
 * allowed.
 */
export function whyNoEndpoint(
  address: Address,
  memberNetworks: readonly Prefix[],
): string | undefined {
  const isIn = (prefix: Prefix) => prefixContains(prefix, address);
  if (isUnroutable(address)) return 'Kubernetes does not accept this address as an endpoint';
  if (memberNetworks.length === 0 || memberNetworks.some(isIn)) return undefined;
  return 'the address is in no network of memberNetworks';
}
