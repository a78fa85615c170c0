import type { KeepalivedAnnouncer } from './keepalived-announcer.ts';

/** - `drained`: an operator wants it  - `ill`: the machine is in bad health */
export type FaultReason = 'drained' | 'ill';

/** Why this gateway must not be master. keepalived is told whether there is any reason. */
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
