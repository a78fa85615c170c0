import type { Clock } from '@causeway/base/time/clock';

/** Caches answers that rarely change, for all callers. Failures are not cached. */
export class Memo {
  readonly #clock: Clock;
  readonly #keepMs: number;
  readonly #known = new Map<string, { readonly value: unknown; readonly until: number }>();

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  async get<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    if (known !== undefined && this.#clock.monotonic() < known.until) return known.value as T;
    const value = await ask();
    this.#known.set(key, { value, until: this.#clock.monotonic() + this.#keepMs });
    return value;
  }
}
