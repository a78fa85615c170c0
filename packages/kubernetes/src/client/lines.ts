const newline = 0x0a;

/**
 * Splits a stream of bytes into lines. Chunks may end anywhere, also inside a character: a line is decoded
 * only when it is complete. Each chunk returns the lines that it completes.
 */
export class LineSplitter {
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;

  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      const line = this.#complete(bytes, start, end);
      if (line !== '') lines.push(line);
      start = end + 1;
    }
    if (start < bytes.length) {
      this.#pending.push(bytes.subarray(start));
      this.#pendingBytes += bytes.length - start;
    }
    return lines;
  }

  /** Bytes of the incomplete line. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Whether the stream so far ends inside a line. */
  get isInsideLine(): boolean {
    return this.#pending.length > 0;
  }

  #complete(bytes: Buffer, start: number, end: number): string {
    if (this.#pending.length === 0) return bytes.toString('utf8', start, end);
    const whole = Buffer.concat([...this.#pending, bytes.subarray(start, end)]);
    this.#pending = [];
    this.#pendingBytes = 0;
    return whole.toString('utf8');
  }
}
