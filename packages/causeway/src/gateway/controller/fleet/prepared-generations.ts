import { untilAborted } from '@causeway/base/time/until-aborted';

interface Waiter {
  readonly generation: number;
  readonly resolve: () => void;
}

/** The newest generation that each gateway has prepared pins for. */
export class PreparedGenerations {
  readonly #newest = new Map<string, number>();
  readonly #waiters = new Map<string, Set<Waiter>>();

  reach(gateway: string, generation: number): void {
    this.#newest.set(gateway, Math.max(generation, this.#newest.get(gateway) ?? 0));
    const waiters = this.#waiters.get(gateway) ?? new Set();
    for (const waiter of waiters) {
      if (waiter.generation > generation) continue;
      waiters.delete(waiter);
      waiter.resolve();
    }
  }

  /** Resolves when the gateway has prepared this generation. */
  async next(gateway: string, generation: number, signal: AbortSignal): Promise<void> {
    if ((this.#newest.get(gateway) ?? 0) >= generation) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiters = this.#waiters.get(gateway) ?? new Set();
    const waiter = { generation, resolve };
    this.#waiters.set(gateway, waiters.add(waiter));
    try {
      await untilAborted(promise, signal);
    } finally {
      waiters.delete(waiter);
    }
  }
}
