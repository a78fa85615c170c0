const nested = 0x8000;
const headerLength = 16;
const genericLength = 4;

/** Writes netlink messages one after another into one growing buffer. */
export class MessageWriter {
  #buffer: Buffer;
  #length = 0;
  #messageStart = 0;

  constructor(capacity = 4096) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes of the current message. */
  get messageLength(): number {
    return this.#length - this.#messageStart;
  }

  /** The written bytes. The writer must not be used afterwards. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Starts a message of an nfnetlink subsystem. `resource` is the last field of its header. */
  message(type: number, flags: number, sequence: number, family: number, resource = 0): void {
    this.#messageStart = this.#length;
    const at = this.#take(headerLength + genericLength);
    this.#buffer.writeUInt32LE(0, at);
    this.#buffer.writeUInt16LE(type, at + 4);
    this.#buffer.writeUInt16LE(flags, at + 6);
    this.#buffer.writeUInt32LE(sequence, at + 8);
    this.#buffer.writeUInt32LE(0, at + 12);
    this.#buffer.writeUInt8(family, at + 16);
    this.#buffer.writeUInt8(0, at + 17);
    this.#buffer.writeUInt16BE(resource, at + 18);
  }

  endMessage(): void {
    this.#buffer.writeUInt32LE(this.messageLength, this.#messageStart);
  }

  /** Adds flags to the current message. */
  addFlags(flags: number): void {
    const at = this.#messageStart + 6;
    this.#buffer.writeUInt16LE(this.#buffer.readUInt16LE(at) | flags, at);
  }

  begin(type: number): number {
    const at = this.#take(4);
    this.#buffer.writeUInt16LE(type | nested, at + 2);
    return at;
  }

  end(at: number): void {
    this.#buffer.writeUInt16LE(this.#length - at, at);
  }

  nest(type: number, write: () => void): void {
    const at = this.begin(type);
    write();
    this.end(at);
  }

  text(type: number, value: string): void {
    const size = Buffer.byteLength(value) + 1;
    const at = this.#attribute(type, size);
    this.#buffer.write(value, at);
    this.#buffer[at + size - 1] = 0;
  }

  u8(type: number, value: number): void {
    const at = this.#attribute(type, 1);
    this.#buffer[at] = value;
  }

  u16(type: number, value: number): void {
    const at = this.#attribute(type, 2);
    this.#buffer.writeUInt16BE(value, at);
  }

  u32(type: number, value: number): void {
    const at = this.#attribute(type, 4);
    this.#buffer.writeUInt32BE(value >>> 0, at);
  }

  u64(type: number, value: bigint): void {
    const at = this.#attribute(type, 8);
    this.#buffer.writeBigUInt64BE(value, at);
  }

  bytesAttribute(type: number, value: Uint8Array): void {
    const at = this.#attribute(type, value.length);
    this.#buffer.set(value, at);
  }

  /** An attribute with a value that `write` writes directly into the buffer, at the given offset. */
  raw(type: number, size: number, write: (buffer: Buffer, at: number) => void): void {
    const at = this.#attribute(type, size);
    write(this.#buffer, at);
  }

  /** Reserves space for an attribute's value, zeroed up to the next boundary; returns its start. */
  #attribute(type: number, size: number): number {
    const padded = (size + 3) & ~3;
    const at = this.#take(4 + padded);
    this.#buffer.writeUInt16LE(4 + size, at);
    this.#buffer.writeUInt16LE(type, at + 2);
    if (padded !== size) this.#buffer.fill(0, at + 4 + size, at + 4 + padded);
    return at + 4;
  }

  #take(size: number): number {
    const at = this.#length;
    const needed = at + size;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    this.#length = needed;
    return at;
  }
}
