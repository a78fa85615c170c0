import type { Address } from '../domain/address.ts';
import { prefixContains, parsePrefix } from '../domain/prefix.ts';

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

/** One such address would make the whole slice invalid, and with it the endpoints of all others. */
export function isEndpointAddress(address: Address): boolean {
  return !refused.some((prefix) => prefixContains(prefix, address));
}
