/** One netlink message of a buffer that the kernel filled. */
export interface Message {
  readonly type: number;
  readonly flags: number;
  readonly sequence: number;
  readonly port: number;
  /** The bytes after the header. */
  readonly payload: Buffer;
}

/** Bytes of a netlink message before its payload. */
export const headerLength = 16;
/** Bytes of an nfnetlink payload before its attributes. */
export const genericLength = 4;

export function* readMessages(buffer: Buffer): Iterable<Message> {
  let offset = 0;
  while (offset + headerLength <= buffer.length) {
    const length = buffer.readUInt32LE(offset);
    if (length < headerLength || offset + length > buffer.length) return;
    yield {
      type: buffer.readUInt16LE(offset + 4),
      flags: buffer.readUInt16LE(offset + 6),
      sequence: buffer.readUInt32LE(offset + 8),
      port: buffer.readUInt32LE(offset + 12),
      payload: buffer.subarray(offset + headerLength, offset + length),
    };
    offset += (length + 3) & ~3;
  }
}

/** The attributes after the generic header of an nfnetlink message. */
export function messageAttributes(message: Message): Attributes {
  return new Attributes(message.payload.subarray(genericLength));
}

/** The attributes at one level; the last one of a type counts. */
export class Attributes {
  readonly #values = new Map<number, Buffer>();

  constructor(buffer: Buffer) {
    for (const [type, value] of attributeList(buffer)) this.#values.set(type, value);
  }

  bytes(type: number): Buffer | undefined {
    return this.#values.get(type);
  }

  text(type: number): string | undefined {
    const value = this.#values.get(type);
    if (value === undefined) return undefined;
    const end = value.indexOf(0);
    return value.toString('utf8', 0, end < 0 ? value.length : end);
  }

  u32(type: number): number | undefined {
    const value = this.#values.get(type);
    return value === undefined || value.length < 4 ? undefined : value.readUInt32BE(0);
  }

  u64(type: number): bigint | undefined {
    const value = this.#values.get(type);
    return value === undefined || value.length < 8 ? undefined : value.readBigUInt64BE(0);
  }

  nest(type: number): Attributes | undefined {
    const value = this.#values.get(type);
    return value === undefined ? undefined : new Attributes(value);
  }

  list(type: number): Buffer[] {
    const value = this.#values.get(type);
    return value === undefined ? [] : Array.from(attributeList(value), ([, item]) => item);
  }
}

export function* attributeList(buffer: Buffer): Iterable<[number, Buffer]> {
  let offset = 0;
  while (offset + 4 <= buffer.length) {
    const length = buffer.readUInt16LE(offset);
    if (length < 4 || offset + length > buffer.length) return;
    yield [buffer.readUInt16LE(offset + 2) & 0x3fff, buffer.subarray(offset + 4, offset + length)];
    offset += (length + 3) & ~3;
  }
}
