import { CausewayError } from '@causeway/base/error/causeway-error';

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
/** Limit of one incomplete object or key, in bytes. */
const largestPiece = 16 * 1024 * 1024;

/**
 * Parses an answer such as `{"ports": [{…}, {…}], "ports_links": […]}` while it arrives. Each object of the
 * list is parsed as soon as it is complete. An answer of many megabytes therefore blocks the event loop only
 * for one network chunk at a time.
 */
export class ListScanner {
  readonly #key: string;
  /** Text outside of the list, parsed at the end. */
  readonly #envelope: string[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #position = 0;
  /** Start of the current list object, envelope text or key in `#rest`. */
  #start = 0;
  #stringStart = 0;
  #depth = 0;
  #inString = false;
  #lastString = '';
  #lastKey = '';
  #inList = false;

  constructor(key: string) {
    this.#key = key;
  }

  /** Adds a chunk; returns the objects that it completes. */
  push(chunk: Uint8Array): unknown[] {
    const items: unknown[] = [];
    const kept = this.#rest.subarray(this.#start);
    if (kept.length > largestPiece) {
      throw new CausewayError(
        'unavailable',
        `an object of the answer is over ${largestPiece} bytes`,
      );
    }
    this.#rest = kept.length === 0 ? asBuffer(chunk) : Buffer.concat([kept, chunk]);
    this.#position -= this.#start;
    this.#stringStart -= this.#start;
    this.#start = 0;
    for (; this.#position < this.#rest.length; this.#position += 1) this.#step(items);
    // An incomplete key stays whole, so that it can be compared.
    if (!this.#inList) this.#cutEnvelope(this.#inString ? this.#stringStart : this.#rest.length);
    return items;
  }

  /** The answer without the list's objects. */
  end(): Record<string, unknown> {
    if (this.#depth !== 0) throw new CausewayError('unavailable', 'the answer is truncated');
    const value = parse(Buffer.from(this.#envelope.join(''), 'latin1').toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new CausewayError('unavailable', 'the answer is not a JSON object');
    }
    const envelope = value as Record<string, unknown>;
    if (!Array.isArray(envelope[this.#key])) {
      throw new CausewayError('unavailable', `the answer has no list of ${this.#key}`);
    }
    return envelope;
  }

  #step(items: unknown[]): void {
    const byte = this.#rest[this.#position];
    if (this.#inString) {
      if (byte === backslash) this.#position += 1;
      else if (byte === quote) this.#endString();
      return;
    }
    switch (byte) {
      case quote:
        this.#inString = true;
        this.#stringStart = this.#position + 1;
        return;
      case colon:
        if (this.#depth === 1) this.#lastKey = this.#lastString;
        return;
      case openBrace:
      case openBracket:
        this.#open(byte);
        return;
      case closeBrace:
      case closeBracket:
        this.#close(items);
        return;
      default:
        return;
    }
  }

  #endString(): void {
    this.#inString = false;
    if (this.#depth !== 1) return;
    this.#lastString = this.#rest.toString('utf8', this.#stringStart, this.#position);
  }

  #open(byte: number): void {
    this.#depth += 1;
    if (this.#inList) {
      if (this.#depth === 3) this.#start = this.#position;
    } else if (byte === openBracket && this.#depth === 2 && this.#lastKey === this.#key) {
      this.#cutEnvelope(this.#position + 1);
      this.#inList = true;
    }
  }

  #close(items: unknown[]): void {
    this.#depth -= 1;
    if (!this.#inList) return;
    if (this.#depth === 2) {
      items.push(parse(this.#rest.toString('utf8', this.#start, this.#position + 1)));
      this.#start = this.#position + 1;
    } else if (this.#depth === 1) {
      this.#inList = false;
      this.#start = this.#position;
    }
  }

  #cutEnvelope(end: number): void {
    // The text may end within a multi-byte character; latin1 keeps the bytes until the rest arrives.
    this.#envelope.push(this.#rest.toString('latin1', this.#start, end));
    this.#start = end;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CausewayError('unavailable', 'the answer is not JSON', { cause });
  }
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
}
