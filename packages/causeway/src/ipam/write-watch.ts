import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { sessionMetrics } from './allocator-metrics.ts';
import { isTransient } from './follower.ts';
import { keys } from './keys.ts';
import type { Ledger, Transaction } from './ledger.ts';

export interface WriteWatchOptions {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const everyMs = 5_000;
/** No key has this revision, so the transaction writes nothing. etcd rejects it if it has no space. */
const impossible = Number.MAX_SAFE_INTEGER;
const write = { key: keys.probe(), value: 'probe' };
const harmless: Transaction = {
  conditions: [{ key: keys.probe(), revision: impossible }],
  writes: [write],
};
const real: Transaction = { conditions: [], writes: [write] };

/** Notices that the ledger accepts no writes although it answers reads, as an etcd with the alarm NOSPACE. */
export class WriteWatch {
  readonly #options: WriteWatchOptions;
  readonly #gauge;
  #problem: string | undefined;

  constructor(options: WriteWatchOptions) {
    this.#options = options;
    this.#gauge = options.metrics.gauge(sessionMetrics.writable);
  }

  /** Why the ledger accepts no writes; undefined if it does. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.check(signal);
      await sleep(this.#options.clock, everyMs, signal);
    }
  }

  /** Tries a write that changes nothing. After a failure, only a real write shows that the ledger recovered. */
  async check(signal: AbortSignal): Promise<void> {
    const { ledger } = this.#options;
    try {
      await ledger.commit(this.#problem === undefined ? harmless : real, signal);
      this.#set(undefined);
    } catch (error) {
      if (signal.aborted) throw error;
      // An outage says nothing about writes; the readiness of the ledger reports it.
      if (isTransient(error)) return;
      const { message, hint } = CausewayError.from(error);
      this.#set(hint === undefined ? message : `${message}. ${hint}`);
    }
  }

  #set(problem: string | undefined): void {
    const { log } = this.#options;
    this.#gauge.set({}, problem === undefined ? 1 : 0);
    if ((problem === undefined) !== (this.#problem === undefined)) {
      if (problem === undefined) log.info({}, 'the ledger accepts writes again');
      else log.error({ problem }, 'the ledger accepts no writes');
    }
    this.#problem = problem;
  }
}
