import { CausewayError } from '../../domain/error.ts';
import { sleep, type Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PoolLedger } from './pool-ledger.ts';

export interface ContactOptions {
  readonly ledger: PoolLedger;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
}

/** Keeps in touch with the ledger by heartbeats, and says when something has changed by it. */
export class Contact {
  readonly #options: ContactOptions;
  #epoch: string | undefined;
  #problem: string | undefined = 'the ledger has not answered yet';

  constructor(options: ContactOptions) {
    this.#options = options;
  }

  /**
   * Sends heartbeats until the signal fires. `onNews` is called when the ledger answers again after it
   * didn't, and when the cluster was reclaimed in between: what it held is then to be asked for anew.
   */
  async run(onNews: () => void, signal: AbortSignal): Promise<void> {
    const { clock, everyMs } = this.#options;
    while (!signal.aborted) {
      if (await this.#beat(signal)) onNews();
      await sleep(clock, everyMs, signal);
    }
  }

  async #beat(signal: AbortSignal): Promise<boolean> {
    const { ledger, log } = this.#options;
    try {
      const { epoch } = await ledger.heartbeat(signal);
      const isNews = this.#problem !== undefined || epoch !== this.#epoch;
      if (this.#epoch !== undefined && epoch !== this.#epoch) {
        log.warn({}, 'this cluster was reclaimed: everything is asked for anew');
      }
      this.#epoch = epoch;
      this.#problem = undefined;
      return isNews;
    } catch (error) {
      if (signal.aborted) throw error;
      const { code, message } = CausewayError.from(error);
      if (this.#problem !== message)
        log.warn({ code, problem: message }, 'no heartbeat got through');
      this.#problem = message;
      return false;
    }
  }
}
