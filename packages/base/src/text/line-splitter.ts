const newline = 0x0a;

export interface LineLimit {
  readonly bytes: number;
  /** The error to throw for a longer line. */
  tooLong(): Error;
}

/**
 * Splits a stream of bytes into lines. A chunk can end anywhere, even inside a character: a line is decoded
 * only when it is complete. Memory holds at most one line beside the chunk.
 */
export class LineSplitter {
  readonly #limit: LineLimit | undefined;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(limit?: LineLimit) {
    this.#limit = limit;
  }

  /** The lines that this chunk completes, including empty lines. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      this.#keep(bytes.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(bytes.subarray(start));
    return lines;
  }

  /** The text after the last line end, or undefined if the stream ends with a line end. */
  end(): string | undefined {
    return this.#pendingBytes === 0 ? undefined : this.#take();
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pendingBytes += piece.length;
    if (this.#limit !== undefined && this.#pendingBytes > this.#limit.bytes) {
      throw this.#limit.tooLong();
    }
    this.#pending.push(piece);
  }

  #take(): string {
    // Most lines are within one chunk and need no copy.
    const [first] = this.#pending;
    const isWhole = first !== undefined && this.#pending.length === 1;
    const line = (isWhole ? first : Buffer.concat(this.#pending)).toString('utf8');
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }
}
