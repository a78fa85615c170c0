import { setTimeout as delay } from 'node:timers/promises';
import { isErrorCode, type ErrorCode } from '../../packages/base/src/error/causeway-error.ts';

/** What is being done, in order for each subject, and side by side otherwise. */
export class Doings {
  readonly #last = new Map<string, Promise<void>>();
  #failure: Error | undefined;

  begin(subject: string, work: () => Promise<void>): void {
    const before = this.#last.get(subject) ?? Promise.resolve();
    const now = before.then(work).catch((error: Error) => {
      this.#failure ??= error;
    });
    this.#last.set(subject, now);
  }

  /** Until all that was begun is done. */
  async done(): Promise<void> {
    await Promise.all(this.#last.values());
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Tries again until it is done, as people do. Some refusals say that it is done already. */
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
