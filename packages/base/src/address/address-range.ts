import {
  addressFromInteger,
  addressToInteger,
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from './address.ts';
import { CausewayError } from '../error/causeway-error.ts';
import { firstAddress, lastAddress, parsePrefix, type Prefix } from './prefix.ts';

/** Consecutive addresses of one family, including both ends. */
export interface AddressRange {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

/** Parses `192.0.2.1`, `192.0.2.1-192.0.2.9` or `192.0.2.0/24`. Throws `invalid`. */
export function parseAddressRange(text: string): AddressRange {
  if (text.includes('/')) return rangeOfPrefix(parsePrefix(text));
  const [left = '', right = left, ...rest] = text.split('-').map((part) => part.trim());
  const first = tryParseAddress(left);
  const last = tryParseAddress(right);
  if (first === undefined || last === undefined || rest.length > 0) {
    throw new CausewayError(
      'invalid',
      `${JSON.stringify(text)} is not an address, a range or a network`,
      { hint: 'Write 192.0.2.1, 192.0.2.1-192.0.2.9 or 192.0.2.0/24; IPv6 likewise.' },
    );
  }
  if (familyOf(first) !== familyOf(last)) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} mixes IPv4 and IPv6`);
  }
  const range = {
    family: familyOf(first),
    first: addressToInteger(first),
    last: addressToInteger(last),
  };
  if (range.first > range.last) {
    throw new CausewayError('invalid', `${JSON.stringify(text)} ends before it begins`);
  }
  return range;
}

export function rangeOfPrefix(prefix: Prefix): AddressRange {
  return {
    family: familyOf(prefix.address),
    first: addressToInteger(firstAddress(prefix)),
    last: addressToInteger(lastAddress(prefix)),
  };
}

export function rangeOfAddress(address: Address): AddressRange {
  const value = addressToInteger(address);
  return { family: familyOf(address), first: value, last: value };
}

/** The shortest spelling: one address, or `first-last`. */
export function formatAddressRange(range: AddressRange): string {
  const first = addressFromInteger(range.first, range.family);
  return range.first === range.last
    ? first
    : `${first}-${addressFromInteger(range.last, range.family)}`;
}
