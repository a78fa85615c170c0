import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Clock } from '@causeway/base/time/clock';
import type { RemovedBackend } from '@causeway/nftables/compile/layout-change';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import { proxyMetrics } from './proxy-metrics.ts';

/** The kernel's connection table, as far as a proxy maintains it. */
export interface ConnectionTable {
  deleteConnections(removed: readonly RemovedBackend[], signal?: AbortSignal): Promise<number>;
  deleteStaleEntries(services: readonly VirtualService[], signal?: AbortSignal): Promise<number>;
}

/** Changes of a transaction that affect existing connections. */
export interface ChangedPaths {
  readonly removedBackends: readonly RemovedBackend[];
  /** The current targets of changed Services. */
  readonly served: readonly VirtualService[];
  /** The previous state is not known, as after a start. */
  readonly isFirst: boolean;
}

/**
 * Deletes UDP conntrack entries that the new rules would send elsewhere. Such an entry does not expire while
 * a client keeps sending, so the client would keep reaching a deleted pod. TCP connections to a removed
 * endpoint may continue until the pod ends them (for attempts see {@link deleteUnanswered}). Attempts that
 * were unanswered when the proxy started are deleted; the client's next attempt follows the new rules.
 * Returns the number of deleted entries.
 */
export async function deleteStaleConnections(
  table: ConnectionTable,
  { removedBackends, served, isFirst }: ChangedPaths,
  signal: AbortSignal,
): Promise<number> {
  const removed = removedBackends.filter(({ backend }) => backend?.protocol === 'UDP');
  const stale = served.filter((service) => mayHaveStaleEntries(service, isFirst));
  return (
    (await table.deleteConnections(removed, signal)) +
    (await table.deleteStaleEntries(stale, signal))
  );
}

function mayHaveStaleEntries({ protocol, dispatch }: VirtualService, isFirst: boolean): boolean {
  switch (protocol) {
    case 'UDP':
      // A held Service has no pods, as after a restart while it is idle, so every entry leads to a deleted
      // pod.
      return dispatch.kind === 'slots' || dispatch.kind === 'hold';
    case 'TCP':
      // Attempts of this machine itself have an entry although the listener of an ended proxy did not accept
      // them. Later on, an attempt that is just being answered would be among them.
      return isFirst;
    default:
      return false;
  }
}

/**
 * Deletes attempts of TCP clients that removed endpoints have not answered. The pod is gone, and the client's
 * next packet would be sent there again. Call this after running endpoints have had time to answer.
 */
export function deleteUnanswered(
  table: ConnectionTable,
  removedBackends: readonly RemovedBackend[],
  signal: AbortSignal,
): Promise<number> {
  const tried = removedBackends.filter(({ backend }) => backend?.protocol === 'TCP');
  return table.deleteConnections(
    tried.map((removed) => ({ ...removed, keepsAnswered: true })),
    signal,
  );
}

export interface StaleConnectionsOptions {
  readonly connections: ConnectionTable;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A running endpoint answers within this time; a client repeats its first packet after twice as long. */
const answerWithinMs = 500;

/** Deletes stale connections after transactions. If this fails, the entries end by their timeouts. */
export class StaleConnections {
  readonly #options: StaleConnectionsOptions;
  readonly #deleted;
  /** Removed endpoints; the unanswered connection attempts to them are about to be deleted. */
  readonly #unanswered: RemovedBackend[] = [];

  constructor(options: StaleConnectionsOptions) {
    this.#options = options;
    this.#deleted = options.metrics.counter(proxyMetrics.staleConnections);
  }

  async delete(paths: ChangedPaths, signal: AbortSignal): Promise<void> {
    const { connections } = this.#options;
    await this.#count(() => deleteStaleConnections(connections, paths, signal));
    this.#forgetLater(paths.removedBackends, signal);
  }

  /**
   * Deletes unanswered connection attempts to these endpoints after a delay, for several changes together.
   */
  #forgetLater(removed: readonly RemovedBackend[], signal: AbortSignal): void {
    const { connections, clock } = this.#options;
    if (removed.length === 0) return;
    this.#unanswered.push(...removed);
    if (this.#unanswered.length > removed.length) return;
    clock.timer(answerWithinMs, () => {
      const all = this.#unanswered.splice(0);
      if (!signal.aborted) void this.#count(() => deleteUnanswered(connections, all, signal));
    });
  }

  async #count(remove: () => Promise<number>): Promise<void> {
    try {
      const count = await remove();
      if (count > 0) this.#deleted.add({}, count);
    } catch (thrown) {
      const error = CausewayError.from(thrown);
      if (error.code === 'aborted') return;
      this.#options.log.error({ error }, 'stale connections were not deleted');
    }
  }
}
