import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Clock } from '@causeway/base/time/clock';
import { SerialQueue } from '@causeway/base/work/serial-queue';
import type { Removed } from '@causeway/nftables/compile/layout-change';
import { serviceKey, type ServiceKey } from '@causeway/nftables/compile/virtual-service';
import type { CheckedService } from '@causeway/nftables/conntrack/stale-entries';
import { proxyMetrics } from './proxy-metrics.ts';
import { UdpFlows } from './udp-flows.ts';

/** The kernel's connection table, as far as a proxy maintains it. */
export interface ConnectionTable {
  deleteConnections(removed: readonly Removed[], signal?: AbortSignal): Promise<number>;
  deleteStaleEntries(services: readonly CheckedService[], signal?: AbortSignal): Promise<number>;
}

/** Changes of a transaction that affect existing connections. */
export interface ChangedPaths {
  readonly removedBackends: readonly Removed[];
  /** The current targets of changed Services; of all Services if the previous state is not known. */
  readonly served: readonly CheckedService[];
  /** The previous state is not known, as after a start. */
  readonly isFirst: boolean;
}

export interface StaleConnectionsOptions {
  readonly connections: ConnectionTable;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A running endpoint answers within this time; a client repeats its first packet after twice as long. */
const answerWithinMs = 500;

/**
 * Deletes conntrack entries that no longer lead to a serving endpoint, beside the transactions: no transaction waits
 * for it. If a deletion fails, the entries end by their timeouts.
 *
 * A UDP entry does not expire while a client keeps sending, so the client would keep reaching a deleted pod. A TCP
 * connection to a removed endpoint continues until the pod ends it; only unanswered attempts are deleted, after running
 * endpoints have had time to answer.
 */
export class StaleConnections {
  readonly #options: StaleConnectionsOptions;
  readonly #deleted;
  readonly #flows = new UdpFlows();
  readonly #queue = new SerialQueue();
  /** UDP targets to check, and removed UDP targets: those of all transactions since the last deletion. */
  readonly #unchecked = new Set<ServiceKey>();
  readonly #gone = new Map<ServiceKey, Removed>();
  /** Removed endpoints and targets; the unanswered connection attempts to them are about to be deleted. */
  readonly #unanswered: Removed[] = [];

  constructor(options: StaleConnectionsOptions) {
    this.#options = options;
    this.#deleted = options.metrics.counter(proxyMetrics.staleConnections);
  }

  /** Resolves when the entries that the change makes stale are deleted, at once if there can be none. */
  async delete(paths: ChangedPaths, signal: AbortSignal): Promise<void> {
    this.#note(paths);
    this.#forgetLater(paths.removedBackends, signal);
    const attempted = paths.isFirst ? paths.served.filter(isTcp) : [];
    if (attempted.length + this.#unchecked.size + this.#gone.size === 0) return;
    await this.#queue.run(() => this.#deleteNoted(attempted, signal));
  }

  #note({ removedBackends, served, isFirst }: ChangedPaths): void {
    const targets = served.filter(isUdp);
    if (isFirst) this.#noteMissing(new Set(targets.map(serviceKey)));
    for (const removed of removedBackends) {
      if (removed.service?.protocol !== 'UDP') continue;
      const key = serviceKey(removed.service);
      this.#flows.delete(key);
      this.#gone.set(key, removed);
    }
    for (const target of targets) {
      const key = serviceKey(target);
      this.#gone.delete(key);
      if (this.#flows.set(target) || isFirst) this.#unchecked.add(key);
    }
  }

  /** Targets that were removed in a transaction with an unknown result. */
  #noteMissing(present: ReadonlySet<ServiceKey>): void {
    for (const key of [...this.#flows.keys()]) {
      const service = this.#flows.get(key);
      if (present.has(key) || service === undefined) continue;
      this.#flows.delete(key);
      this.#gone.set(key, { service });
    }
  }

  /**
   * TCP attempts of this machine itself have an entry although the listener of an ended proxy did not accept them. They
   * are deleted at the start only: later, an attempt that is just being answered would be among them.
   */
  async #deleteNoted(attempted: readonly CheckedService[], signal: AbortSignal): Promise<void> {
    const { connections } = this.#options;
    const gone = [...this.#gone.values()];
    const stale = [...this.#unchecked].flatMap((key) => this.#flows.get(key) ?? []);
    this.#gone.clear();
    this.#unchecked.clear();
    await this.#count(() => connections.deleteConnections(gone, signal));
    await this.#count(() => connections.deleteStaleEntries([...stale, ...attempted], signal));
  }

  /** Deletes unanswered TCP connection attempts after a delay, for several changes together. */
  #forgetLater(removed: readonly Removed[], signal: AbortSignal): void {
    const { connections, clock } = this.#options;
    const tried = removed.filter(
      ({ service, backend }) => (service ?? backend)?.protocol === 'TCP',
    );
    if (tried.length === 0) return;
    this.#unanswered.push(...tried.map((each): Removed => ({ ...each, keepsAnswered: true })));
    if (this.#unanswered.length > tried.length) return;
    clock.timer(answerWithinMs, () => {
      const all = this.#unanswered.splice(0);
      if (signal.aborted) return;
      void this.#queue.run(() => this.#count(() => connections.deleteConnections(all, signal)));
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

/** A held Service has no pods, as after a restart while it is idle, so every entry leads to a deleted pod. */
function isUdp({ protocol, dispatch }: CheckedService): boolean {
  return protocol === 'UDP' && (dispatch.kind === 'slots' || dispatch.kind === 'hold');
}

function isTcp({ protocol }: CheckedService): boolean {
  return protocol === 'TCP';
}
