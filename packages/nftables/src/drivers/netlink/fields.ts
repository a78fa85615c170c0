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

/** The number by which nft knows a type, or several one after another. */
export function typeNumber(types: readonly DataType[]): number {
  return types.reduce((number, type) => (number << typeBits) | typeNumbers[type], 0);
}

/** A field alone has its own size; among others each starts on a boundary of four bytes. */
export function dataLength(types: readonly DataType[]): number {
  const [only] = types;
  if (only !== undefined && types.length === 1) return typeSizes[only];
  return types.reduce((sum, type) => sum + Math.max(4, typeSizes[type]), 0);
}

/** Which types a number stands for; undefined if one of them is none of ours. */
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

/** Writes fields as the kernel's registers hold them. The bytes are zero so far. */
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
      throw new CausewayError('unavailable', 'the kernel told less of an element than it has');
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

const rememberedAddresses = 500;
const addresses = new Map<Address, Uint8Array>();

/**
 * Each service has many elements, one after another, and they hold the same addresses: parsing each once
 * makes large loads fast. To remember them for longer would take 200 bytes for each and gain nothing.
 */
function bytesOf(address: Address): Uint8Array {
  let bytes = addresses.get(address);
  if (bytes === undefined) {
    if (addresses.size >= rememberedAddresses) addresses.clear();
    bytes = addressBytes(address);
    addresses.set(address, bytes);
  }
  return bytes;
}
