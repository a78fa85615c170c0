import { ApiError } from '../status.ts';

/** One undecoded field of a protobuf message. */
export interface WireField {
  readonly number: number;
  readonly value: bigint | Buffer;
}

/** Splits a protobuf message into its fields. Numbers are returned as integers, 64-bit numbers as bytes. */
export function* wireFields(message: Buffer): Generator<WireField> {
  const cursor = { message, position: 0 };
  while (cursor.position < message.length) {
    const tag = Number(varint(cursor));
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        yield { number, value: varint(cursor) };
        break;
      case 1:
        yield { number, value: take(cursor, 8) };
        break;
      case 2:
        yield { number, value: take(cursor, Number(varint(cursor))) };
        break;
      case 5:
        yield { number, value: take(cursor, 4) };
        break;
      default:
        throw malformed();
    }
  }
}

interface Cursor {
  readonly message: Buffer;
  position: number;
}

function varint(cursor: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = cursor.message[cursor.position];
    if (byte === undefined) throw malformed();
    cursor.position += 1;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return BigInt.asIntN(64, value);
  }
  throw malformed();
}

function take(cursor: Cursor, length: number): Buffer {
  const end = cursor.position + length;
  if (length < 0 || end > cursor.message.length) throw malformed();
  const part = cursor.message.subarray(cursor.position, end);
  cursor.position = end;
  return part;
}

export const malformed = () => new ApiError('BadRequest', 'the protobuf in the body is malformed');
