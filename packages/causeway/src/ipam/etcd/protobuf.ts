import { CausewayError } from '@causeway/base/error/causeway-error';

/** The part of the protobuf wire format that etcd's messages need: varints and length-delimited fields. */

const varint = 0;
const delimited = 2;

/** Builds one message, field by field. Zero and empty are protobuf's defaults and are omitted. */
export class MessageWriter {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  number(field: number, value: number): this {
    return value === 0 ? this : this.present(field, value);
  }

  /** Also writes a zero: its presence chooses a variant. */
  present(field: number, value: number): this {
    this.#varint(field * 8 + varint);
    this.#varint(value);
    return this;
  }

  flag(field: number, value: boolean): this {
    return this.number(field, value ? 1 : 0);
  }

  text(field: number, value: string): this {
    const size = Buffer.byteLength(value);
    if (size === 0) return this;
    this.#begin(field, size);
    this.#length += this.#buffer.write(value, this.#length);
    return this;
  }

  /** Also writes an empty message: its presence chooses a variant. */
  message(field: number, content: MessageWriter): this {
    const bytes = content.finish();
    this.#begin(field, bytes.length);
    this.#length += bytes.copy(this.#buffer, this.#length);
    return this;
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #begin(field: number, size: number): void {
    this.#varint(field * 8 + delimited);
    this.#varint(size);
    this.#reserve(size);
  }

  #varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length] = (rest % 0x80) | 0x80;
      this.#length += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length] = rest;
    this.#length += 1;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + more));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** One field of a message. Numbers above 2^53 lose their low bits: only identifiers are that large. */
export interface Field {
  readonly number: number;
  readonly value: number;
  readonly bytes: Buffer;
}

const noBytes = Buffer.alloc(0);
/** Factor of the tenth and last byte of a varint: 64 bits in groups of seven. */
const largestFactor = 0x80 ** 9;

/** The fields of a message in the order in which they were written. The reader skips unknown fields. */
export function* readFields(message: Buffer): Generator<Field, void> {
  let offset = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = message[offset];
      if (byte === undefined || factor > largestFactor) throw malformed();
      offset += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (offset < message.length) {
    const tag = readVarint();
    const number = tag >>> 3;
    switch (tag & 7) {
      case varint:
        yield { number, value: readVarint(), bytes: noBytes };
        break;
      case delimited: {
        const size = readVarint();
        if (offset + size > message.length) throw malformed();
        yield { number, value: 0, bytes: message.subarray(offset, offset + size) };
        offset += size;
        break;
      }
      default:
        throw malformed();
    }
  }
}

/** A negative int64 is written as its two's complement in 64 bits. */
export function isNegative(value: number): boolean {
  return value >= 2 ** 63;
}

/** `unavailable`, so that the caller asks again: a malformed message is not a defect of this process. */
function malformed(): CausewayError {
  return new CausewayError('unavailable', 'etcd sent a malformed protobuf message');
}
