import { setTimeout as delay } from 'node:timers/promises';
import { isErrorCode, type ErrorCode } from '../../packages/base/src/error/causeway-error.ts';
import { KeyedQueue } from '../../packages/base/src/work/keyed-queue.ts';

/** Runs operations in order for each subject, and different subjects in parallel. */
export class Doings {
  readonly #queues = new KeyedQueue();
  #failure: Error | undefined;

  begin(subject: string, work: () => Promise<void>): void {
    void this.#queues.run(subject, async () => {
      try {
        await work();
      } catch (error) {
        this.#failure ??= error as Error;
      }
    });
  }

  /** Waits until everything that was started is done. */
  async done(): Promise<void> {
    await this.#queues.idle();
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Retries until it succeeds. Some errors mean that it is done already. */
export async function persist(
  attempt: () => Promise<unknown>,
  ...isDone: readonly ErrorCode[]
): Promise<void> {
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (isDone.some((code) => isErrorCode(error, code))) return;
      if (isErrorCode(error, 'invalid')) throw error;
      await delay(500);
    }
  }
}
