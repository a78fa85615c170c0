/** Lets one loop wait for work. Calls during the loop's work count as one call. */
export class WakeUp {
  #isDue = false;
  #wake: (() => void) | undefined;

  call(): void {
    this.#isDue = true;
    this.#wake?.();
  }

  /** Resolves at the next call, at once after a call since the last wait, or when the signal fires. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#isDue && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const onAbort = () => resolve();
      this.#wake = resolve;
      signal.addEventListener('abort', onAbort, { once: true });
      await promise;
      signal.removeEventListener('abort', onAbort);
      this.#wake = undefined;
    }
    this.#isDue = false;
  }
}
