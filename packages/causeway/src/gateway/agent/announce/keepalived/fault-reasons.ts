import type { KeepalivedAnnouncer } from './keepalived-announcer.ts';

/**
 * - `drained`: an operator drained the gateway
 * - `ill`: the machine is unhealthy
 */
export type FaultReason = 'drained' | 'ill';

/**
 * Reasons why this gateway must not be master. keepalived gets the fault while there is at least one reason.
 */
export class FaultReasons {
  readonly #mover: Pick<KeepalivedAnnouncer, 'setFault'> | undefined;
  readonly #reasons = new Set<FaultReason>();

  constructor(mover: Pick<KeepalivedAnnouncer, 'setFault'> | undefined) {
    this.#mover = mover;
  }

  async set(reason: FaultReason, isSo: boolean): Promise<void> {
    if (isSo) this.#reasons.add(reason);
    else this.#reasons.delete(reason);
    await this.#mover?.setFault(this.#reasons.size > 0);
  }
}
