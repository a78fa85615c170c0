import { CausewayError } from '../../domain/error.ts';
import type { LoadBalancerWaiter } from '../../openstack/load-balancing/waiter.ts';
import type { Log } from '../../runtime/log.ts';
import type { Inventory } from './inventory.ts';

export interface SettlingOptions {
  readonly waiter: LoadBalancerWaiter;
  readonly inventory: Inventory;
  readonly log: Log;
  /** PENDING for longer than this is told to the user. */
  readonly limitMs: number;
}

/**
 * Waits for load balancers in the background, so that no worker is held by one that takes minutes, and
 * has their Services looked at when they are done.
 */
export class Settling {
  readonly #options: SettlingOptions;
  readonly #waits = new Map<string, Promise<void>>();
  readonly #overdue = new Set<string>();
  #running: { readonly enqueue: (key: string) => void; readonly signal: AbortSignal } | undefined;

  constructor(options: SettlingOptions) {
    this.#options = options;
  }

  /** Until the signal fires, and then for the end of every wait. */
  async run(enqueue: (key: string) => void, signal: AbortSignal): Promise<void> {
    this.#running = { enqueue, signal };
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all(this.#waits.values());
  }

  isOverdue(id: string): boolean {
    return this.#overdue.has(id);
  }

  watch(id: string, key: string): void {
    const running = this.#running;
    if (running === undefined || running.signal.aborted || this.#waits.has(id)) return;
    const wait = this.#wait(id, running.signal).then((isOver) => {
      this.#waits.delete(id);
      if (isOver) running.enqueue(key);
    });
    this.#waits.set(id, wait);
  }

  /** Whether there is anything to look at. */
  async #wait(id: string, signal: AbortSignal): Promise<boolean> {
    const { waiter, inventory, log, limitMs } = this.#options;
    try {
      inventory.putBare(await waiter.settled(id, { signal, deadlineMs: limitMs }));
      this.#overdue.delete(id);
      return true;
    } catch (error) {
      const known = CausewayError.from(error);
      if (signal.aborted) return false;
      if (known.code === 'not-found') {
        inventory.forget(id);
        this.#overdue.delete(id);
        return true;
      }
      if (known.code === 'timeout') this.#overdue.add(id);
      log.warn({ error: known, loadBalancer: id }, 'a load balancer does not settle');
      return true;
    }
  }
}
