import { addressBytes, addressFromBytes, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { DataType, Field } from '../../model/ruleset.ts';
import { integerTypeNumber, typeBits, typeNumbers } from '@causeway/netlink/constants';

const typeSizes: Readonly<Record<DataType, number>> = {
  ipv4_addr: 4,
  ipv6_addr: 16,
  inet_proto: 1,
  inet_service: 2,
  slot: 4,
};

/** nft's number of a type, or of a concatenation of types. */
export function typeNumber(types: readonly DataType[]): number {
  return types.reduce((number, type) => (number << typeBits) | typeNumbers[type], 0);
}

/** A single field has its own size; in a concatenation each field starts on a four-byte boundary. */
export function dataLength(types: readonly DataType[]): number {
  const [only] = types;
  if (only !== undefined && types.length === 1) return typeSizes[only];
  return types.reduce((sum, type) => sum + Math.max(4, typeSizes[type]), 0);
}

/** The types of a number; undefined if one of them is not ours. */
export function typesOfNumber(number: number): DataType[] | undefined {
  const types: DataType[] = [];
  for (let rest = number; rest > 0; rest >>>= typeBits) {
    const part = rest & ((1 << typeBits) - 1);
    const type = dataTypes.find((name) => typeNumbers[name] === part);
    if (type !== undefined) types.unshift(type);
    else if (part === integerTypeNumber) types.unshift('slot');
    else return undefined;
  }
  return types;
}

const dataTypes = Object.keys(typeNumbers) as DataType[];

/** Writes fields in the form of the kernel's registers. The buffer must be zeroed. */
export function writeFields(
  buffer: Buffer,
  start: number,
  types: readonly DataType[],
  fields: readonly Field[],
): void {
  let at = start;
  for (let index = 0; index < types.length; index += 1) {
    const type = types[index] ?? 'slot';
    const field = fields[index];
    switch (type) {
      case 'ipv4_addr':
      case 'ipv6_addr':
        buffer.set(bytesOf(field as Address), at);
        break;
      case 'inet_proto':
        buffer[at] = Number(field);
        break;
      case 'inet_service':
        buffer.writeUInt16BE(Number(field), at);
        break;
      case 'slot':
        buffer.writeUInt32LE(Number(field), at);
        break;
    }
    at += Math.max(4, typeSizes[type]);
  }
}

export function readFields(buffer: Buffer, types: readonly DataType[]): Field[] {
  let at = 0;
  return types.map((type): Field => {
    const start = at;
    at += Math.max(4, typeSizes[type]);
    if (start + typeSizes[type] > buffer.length) {
      throw new CausewayError('unavailable', 'an element of the kernel is shorter than its type');
    }
    switch (type) {
      case 'ipv4_addr':
      case 'ipv6_addr':
        return addressFromBytes(buffer.subarray(start, start + typeSizes[type]));
      case 'inet_proto':
        return buffer.readUInt8(start);
      case 'inet_service':
        return buffer.readUInt16BE(start);
      case 'slot':
        return buffer.readUInt32LE(start);
      default:
        return type satisfies never;
    }
  });
}

const maxCachedAddresses = 500;
const addresses = new Map<Address, Uint8Array>();

/**
 * Consecutive elements of a service contain the same addresses: parsing each address once makes large loads
 * fast. A longer-lived cache would take 200 bytes per address without a gain.
 */
function bytesOf(address: Address): Uint8Array {
  let bytes = addresses.get(address);
  if (bytes === undefined) {
    if (addresses.size >= maxCachedAddresses) addresses.clear();
    bytes = addressBytes(address);
    addresses.set(address, bytes);
  }
  return bytes;
}
