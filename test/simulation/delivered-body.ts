/** A body with lines that are written at once, and delivered when the simulation decides. */
export class DeliveredBody implements AsyncIterable<Uint8Array> {
  readonly #deliver: (run: () => void) => void;
  #sent: string[] = [];
  #arrived: string[] = [];
  #isEnding = false;
  #isOnItsWay = false;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;
  #stop: (() => void) | undefined;

  constructor(deliver: (run: () => void) => void) {
    this.#deliver = deliver;
  }

  /** Called when the reader stops. */
  onStop(stop: () => void): void {
    this.#stop = stop;
  }

  write(line: string): void {
    this.#sent.push(line);
    this.#schedule();
  }

  end(): void {
    this.#isEnding = true;
    this.#schedule();
  }

  /** The connection is cut: the reader gets the error at once. */
  fail(error: Error): void {
    this.#end ??= { error };
    this.#stop?.();
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        if (this.#arrived.length === 0 && this.#end === undefined) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
        if (this.#end?.error !== undefined) throw this.#end.error;
        const lines = this.#arrived;
        this.#arrived = [];
        if (lines.length > 0) yield Buffer.from(lines.join(''));
        else if (this.#end !== undefined) return;
      }
    } finally {
      this.#stop?.();
    }
  }

  /** Everything written by then arrives together, in order. */
  #schedule(): void {
    if (this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    this.#deliver(() => {
      this.#isOnItsWay = false;
      this.#arrived.push(...this.#sent);
      this.#sent = [];
      if (this.#isEnding) this.#end ??= {};
      this.#wake?.();
    });
  }
}
