import {
  addressFromInteger,
  addressToInteger,
  compareAddresses,
  familyOf,
  tryParseAddress,
  type Address,
  type Family,
} from './address.ts';
import { CausewayError } from '../error/causeway-error.ts';
import { quoted } from '../text/text-limit.ts';

/** A network such as `192.0.2.0/24`. Its address has no host bits. */
export interface Prefix {
  readonly address: Address;
  readonly length: number;
}

const prefixLength = /^(?:0|[1-9][0-9]{0,2})$/;

/**
 * Parses `address/length` strictly. Rejects host bits, because either the address or the length is a mistake.
 */
export function parsePrefix(text: string): Prefix {
  const { address, length } = parseInterface(text);
  const network = prefixOf(address, length);
  if (network.address !== address) {
    throw new CausewayError('invalid', `${quoted(text)} has host bits set`, {
      hint: `The network is ${formatPrefix(network)}.`,
    });
  }
  return network;
}

/** Parses `address/length` and accepts host bits, as on an interface or in a loose CIDR field. */
export function parseInterface(text: string): { address: Address; length: number } {
  const slash = text.indexOf('/');
  const address = slash < 0 ? undefined : tryParseAddress(text.slice(0, slash));
  const digits = text.slice(slash + 1);
  if (address === undefined || !prefixLength.test(digits)) {
    throw new CausewayError('invalid', `${quoted(text)} is not an address with a prefix length`);
  }
  const length = Number(digits);
  if (length > addressBits(familyOf(address))) {
    throw new CausewayError(
      'invalid',
      `${quoted(text)} has a prefix length over ${addressBits(familyOf(address))}`,
    );
  }
  return { address, length };
}

/** The network of this length that contains the address. */
export function prefixOf(address: Address, length: number): Prefix {
  const family = familyOf(address);
  const hostBits = BigInt(addressBits(family) - length);
  const value = (addressToInteger(address) >> hostBits) << hostBits;
  return { address: addressFromInteger(value, family), length };
}

/** The network that contains only this address. */
export function hostPrefix(address: Address): Prefix {
  return { address, length: addressBits(familyOf(address)) };
}

export function formatPrefix(prefix: Prefix): string {
  return `${prefix.address}/${prefix.length}`;
}

export function prefixFamily(prefix: Prefix): Family {
  return familyOf(prefix.address);
}

export function prefixContains(prefix: Prefix, address: Address): boolean {
  if (familyOf(address) !== familyOf(prefix.address)) return false;
  return prefixOf(address, prefix.length).address === prefix.address;
}

export function prefixesOverlap(left: Prefix, right: Prefix): boolean {
  return left.length <= right.length
    ? prefixContains(left, right.address)
    : prefixContains(right, left.address);
}

/** Total order: by address, then the wider network first. */
export function comparePrefixes(left: Prefix, right: Prefix): number {
  return compareAddresses(left.address, right.address) || left.length - right.length;
}

export function firstAddress(prefix: Prefix): Address {
  return prefix.address;
}

export function lastAddress(prefix: Prefix): Address {
  const family = prefixFamily(prefix);
  return addressFromInteger(addressToInteger(prefix.address) + prefixSize(prefix) - 1n, family);
}

/** The number of addresses in the network. */
export function prefixSize(prefix: Prefix): bigint {
  return 1n << BigInt(addressBits(prefixFamily(prefix)) - prefix.length);
}

function addressBits(family: Family): number {
  return family === 4 ? 32 : 128;
}
