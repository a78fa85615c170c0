import type { WithdrawalCause } from './announcer.ts';

/** The causes for which this gateway gives up all addresses. */
export class Withdrawals {
  readonly #reasons = new Map<WithdrawalCause, string>();

  add(cause: WithdrawalCause, reason: string): void {
    this.#reasons.set(cause, reason);
  }

  remove(cause: WithdrawalCause): void {
    this.#reasons.delete(cause);
  }

  get isEmpty(): boolean {
    return this.#reasons.size === 0;
  }

  /** All causes and reasons; undefined if there are none. */
  get reason(): string | undefined {
    if (this.isEmpty) return undefined;
    return [...this.#reasons].map(([cause, reason]) => `${cause}: ${reason}`).join('; ');
  }
}
