import type { Address } from '../domain/address.ts';
import { prefixContains, parsePrefix, type Prefix } from '../domain/prefix.ts';

/** Unspecified, loopback, link-local, multicast and mapped addresses: the API server refuses them. */
const refused = [
  '0.0.0.0/32',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/127',
  '::ffff:0:0/96',
  'fe80::/10',
  'ff00::/8',
].map((text) => parsePrefix(text));

/**
 * Why a member can't be an endpoint; undefined where it can. One address that the API server refuses
 * would make the whole slice invalid, and with it the endpoints of all others. Without networks that
 * members may be in, they may be in any.
 */
export function whyNoEndpoint(
  address: Address,
  memberNetworks: readonly Prefix[],
): string | undefined {
  const isIn = (prefix: Prefix) => prefixContains(prefix, address);
  if (refused.some(isIn)) return 'Kubernetes takes no such address as an endpoint';
  if (memberNetworks.length === 0 || memberNetworks.some(isIn)) return undefined;
  return 'it is in none of the networks of memberNetworks';
}
