/** Bytes that a test emits when it decides to. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(signal?: AbortSignal) {
    signal?.addEventListener('abort', () => this.fail(new DOMException('aborted', 'AbortError')), {
      once: true,
    });
  }

  push(data: string | Uint8Array): void {
    if (this.#end !== undefined) return;
    this.#chunks.push(typeof data === 'string' ? new TextEncoder().encode(data) : data);
    this.#wake?.();
  }

  end(): void {
    this.#end ??= {};
    this.#wake?.();
  }

  /** Bytes pushed before still arrive. */
  fail(error: Error): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) {
        yield chunk;
      } else if (this.#end === undefined) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      } else if (this.#end.error === undefined) {
        return;
      } else {
        throw this.#end.error;
      }
    }
  }
}
