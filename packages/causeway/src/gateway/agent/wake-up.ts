/** Lets a loop wait until there is something to do. Calls while it works are remembered as one. */
export class WakeUp {
  #isDue = false;
  #wake: (() => void) | undefined;

  call(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Resolves at the next call, at once if there was one since the last, or when the signal fires. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#isDue && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      this.#wake = undefined;
    }
    this.#isDue = false;
  }
}
