import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import type { Allocator } from './allocator.ts';
import { sessionMetrics } from './allocator-metrics.ts';
import { suspendAll } from './backup.ts';
import { stateRoot } from './keys.ts';

export interface LedgerSessionOptions {
  readonly allocator: Allocator;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const retryMs = 500;
const emptyRetryMs = 2_000;

/**
 * Runs the loops of a server. After a failure they start again as after a start of the process. If the store
 * was put back to an earlier state, every site is marked as recovering first: otherwise addresses that were
 * assigned after the backup would be assigned again.
 */
export class LedgerSession {
  readonly #options: LedgerSessionOptions;
  readonly #putBacks;
  #problem: string | undefined;

  constructor(options: LedgerSessionOptions) {
    this.#options = options;
    this.#putBacks = options.metrics.counter(sessionMetrics.putBacks);
  }

  /** Why this server is not ready; undefined if it is. */
  get problem(): string | undefined {
    if (this.#options.allocator.follower.connected) return undefined;
    return this.#problem ?? 'the ledger can’t be followed at the moment';
  }

  /** Runs until the signal fires. No failure ends it. */
  async run(loops: Readonly<Record<string, Loop>>, signal: AbortSignal): Promise<void> {
    const { allocator, clock, log } = this.#options;
    const { follower } = allocator;
    while (!signal.aborted) {
      try {
        const putBack: Loop = (inner) => follower.untilPutBack(inner);
        await supervise(signal, { ...loops, 'store history': putBack });
      } catch (error) {
        if (signal.aborted) return;
        const { message, code } = CausewayError.from(error);
        this.#problem = message;
        log.error({ code, problem: message }, 'this server starts over with its ledger');
        if (follower.putBack !== undefined) await this.#recover(signal);
        follower.startOver();
        await sleep(clock, retryMs, signal).catch(() => undefined);
      }
    }
  }

  /** Returns after the sites are marked, or after the signal. */
  async #recover(signal: AbortSignal): Promise<void> {
    const { allocator, clock, log } = this.#options;
    this.#putBacks.add({});
    const hadSites = allocator.view.sites.length > 0;
    while (!signal.aborted) {
      let delayMs = retryMs;
      try {
        allocator.ledger.acceptStore();
        const { entries } = await allocator.ledger.load(stateRoot, signal);
        if (entries.length > 0 || !hadSites) {
          const now = clock.wallTime();
          const sites = await suspendAll(allocator.ledger, 'recovering', now, signal);
          log.error(
            { sites },
            'the ledger went back to an older state: its sites are recovering now',
          );
          return;
        }
        this.#problem = 'the ledger is empty, but it had sites before: restore a backup into it';
        delayMs = emptyRetryMs;
      } catch (error) {
        // Another server marks the same sites, or the store does not answer yet.
        this.#problem = `marking the sites as recovering: ${CausewayError.from(error).message}`;
      }
      log.warn({ problem: this.#problem }, 'waiting for the ledger');
      await sleep(clock, delayMs, signal).catch(() => undefined);
    }
  }
}
