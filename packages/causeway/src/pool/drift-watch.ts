import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { ObjectView } from '../services/provider.ts';
import type { PendingReleases } from './pending-releases.ts';
import { compareWithLedger, findingKinds, type Finding } from './ledger-comparison.ts';
import type { PoolLedger } from './pool-ledger.ts';

const findings: MetricDefinition<'kind'> = {
  kind: 'gauge',
  name: 'causeway_pool_findings',
  help: 'Services and reservations on which the cluster and the shared ledger do not agree, by kind; "causeway pool check" lists them.',
  labels: ['kind'],
};

export const poolMetricDefinitions = [findings];

export interface DriftWatchOptions {
  readonly ledger: PoolLedger;
  readonly releases: PendingReleases;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly everyMs: number;
}

/**
 * Compares the cluster with the ledger at intervals. Lost or different reservations are requested again.
 * Leaked reservations are only reported: an address that may still be announced must not be freed
 * automatically.
 */
export class DriftWatch {
  readonly #options: DriftWatchOptions;

  constructor(options: DriftWatchOptions) {
    this.#options = options;
  }

  async run(
    services: ObjectView<Service>,
    askAgain: (uid: string) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, metrics, everyMs } = this.#options;
    const gauge = metrics.gauge(findings);
    while (!signal.aborted) {
      await sleep(clock, everyMs, signal);
      const found = await this.#check(services, signal);
      if (found === undefined) continue;
      for (const kind of findingKinds) {
        gauge.set({ kind }, found.filter((finding) => finding.kind === kind).length);
      }
      for (const finding of found) this.#act(finding, askAgain);
    }
  }

  async #check(services: ObjectView<Service>, signal: AbortSignal): Promise<Finding[] | undefined> {
    const { ledger, log } = this.#options;
    try {
      const reservations = await ledger.reservations(signal);
      const releasing = await this.#options.releases.list(signal);
      const uids = new Set(releasing.map(({ uid }) => uid));
      return compareWithLedger(reservations, [...services.values()], uids);
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug(
        { problem: CausewayError.from(error).message },
        'comparison with the ledger failed',
      );
      return undefined;
    }
  }

  #act({ kind, service, uid, addresses, message }: Finding, askAgain: (uid: string) => void): void {
    if (kind === 'not-in-ledger' || kind === 'other-address') askAgain(uid);
    if (kind === 'leaked' || kind === 'leaked-but-shown') {
      this.#options.log.warn({ service, addresses }, message);
    }
  }
}
