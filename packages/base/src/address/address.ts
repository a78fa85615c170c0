import { CausewayError } from '../error/causeway-error.ts';
import { quoted } from '../text/text-limit.ts';

declare const addressBrand: unique symbol;

/** An IPv4 address in its one canonical spelling, such as `192.0.2.1`. */
export type Ipv4Address = string & { readonly [addressBrand]: 4 };
/** An IPv6 address as RFC 5952 writes it, such as `2001:db8::1`. */
export type Ipv6Address = string & { readonly [addressBrand]: 6 };
/**
 * A parsed IP address. The spelling is canonical, so two addresses are equal exactly if their strings are:
 * compare with === and use as a key.
 */
export type Address = Ipv4Address | Ipv6Address;
export type Family = 4 | 6;

const dot = '.'.charCodeAt(0);
const zero = '0'.charCodeAt(0);
const hexGroup = /^[0-9a-fA-F]{1,4}$/;

/** Parses strictly: four decimal octets without leading zeros, or IPv6 without a zone. Throws `invalid`. */
export function parseAddress(text: string): Address {
  const address = tryParseAddress(text);
  if (address === undefined)
    throw new CausewayError('invalid', `${quoted(text)} is not an IP address`);
  return address;
}

/** IPv6 with a dotted IPv4 address at its end and every group written out. */
const longestAddress = 45;

export function tryParseAddress(text: string): Address | undefined {
  if (text.length > longestAddress) return undefined;
  const bytes = text.includes(':') ? ipv6Bytes(text) : ipv4Bytes(text);
  return bytes === undefined ? undefined : addressFromBytes(bytes);
}

export function familyOf(address: Address): Family {
  return address.includes(':') ? 6 : 4;
}

export function isIpv4(address: Address): address is Ipv4Address {
  return familyOf(address) === 4;
}

/** The address in network byte order: 4 or 16 bytes. */
export function addressBytes(address: Address): Uint8Array {
  const bytes = address.includes(':') ? ipv6Bytes(address) : ipv4Bytes(address);
  if (bytes === undefined) throw new CausewayError('internal', `${address} was never parsed`);
  return bytes;
}

export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length === 4) return bytes.join('.') as Ipv4Address;
  if (bytes.length === 16) return formatIpv6(bytes) as Ipv6Address;
  throw new CausewayError('invalid', `an address has 4 or 16 bytes, not ${bytes.length}`);
}

export function addressToInteger(address: Address): bigint {
  let value = 0n;
  for (const byte of addressBytes(address)) value = (value << 8n) | BigInt(byte);
  return value;
}

export function addressFromInteger(value: bigint, family: Family): Address {
  const length = family === 4 ? 4 : 16;
  if (value < 0n || value >= 1n << BigInt(length * 8)) {
    throw new CausewayError('invalid', `${value} is outside the IPv${family} address space`);
  }
  const bytes = new Uint8Array(length);
  for (let index = length - 1, rest = value; index >= 0; index -= 1, rest >>= 8n) {
    bytes[index] = Number(rest & 0xffn);
  }
  return addressFromBytes(bytes);
}

/** Total order: IPv4 before IPv6, then by value. */
export function compareAddresses(left: Address, right: Address): number {
  const a = addressBytes(left);
  const b = addressBytes(right);
  if (a.length !== b.length) return a.length - b.length;
  for (const [index, byte] of a.entries()) {
    const other = b[index] ?? 0;
    if (byte !== other) return byte - other;
  }
  return 0;
}

/** Reads digit by digit for speed: a full push has tens of thousands of addresses. */
function ipv4Bytes(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4);
  let [part, value, digits] = [0, 0, 0];
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : dot;
    if (code === dot) {
      if (digits === 0 || part === bytes.length) return undefined;
      bytes[part] = value;
      [part, value, digits] = [part + 1, 0, 0];
      continue;
    }
    const digit = code - zero;
    const hasLeadingZero = digits > 0 && value === 0;
    if (digit < 0 || digit > 9 || hasLeadingZero) return undefined;
    value = value * 10 + digit;
    digits += 1;
    if (value > 255) return undefined;
  }
  return part === bytes.length ? bytes : undefined;
}

function ipv6Bytes(text: string): Uint8Array | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = ipv6Groups(halves[0] ?? '', halves.length === 1);
  const tail = halves.length === 2 ? ipv6Groups(halves[1] ?? '', true) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array<number>(missing).fill(0), ...tail];
  const bytes = new Uint8Array(16);
  for (const [index, group] of groups.entries()) {
    bytes[index * 2] = group >> 8;
    bytes[index * 2 + 1] = group & 0xff;
  }
  return bytes;
}

/** The 16-bit groups of a part without `::`. A dotted IPv4 address is allowed at the end. */
function ipv6Groups(part: string, isEnd: boolean): number[] | undefined {
  if (part === '') return [];
  const groups: number[] = [];
  const pieces = part.split(':');
  for (const [index, piece] of pieces.entries()) {
    if (hexGroup.test(piece)) {
      groups.push(Number.parseInt(piece, 16));
      continue;
    }
    const embedded = isEnd && index === pieces.length - 1 ? ipv4Bytes(piece) : undefined;
    if (embedded === undefined) return undefined;
    const [a = 0, b = 0, c = 0, d = 0] = embedded;
    groups.push((a << 8) | b, (c << 8) | d);
  }
  return groups;
}

/** RFC 5952: lower case, with the longest run of two or more zero groups (the first of equals) as `::`. */
function formatIpv6(bytes: Uint8Array): string {
  const groups: number[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push(((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0));
  }
  const run = longestZeroRun(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':');
  if (run.length < 2) return hex(groups);
  return `${hex(groups.slice(0, run.start))}::${hex(groups.slice(run.start + run.length))}`;
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  }
  return best;
}
