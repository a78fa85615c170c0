import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Removed } from '@causeway/nftables/compile/layout-change';
import type { VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { Log } from '@causeway/base/observability/log';
import type { Clock } from '@causeway/base/time/clock';
import { SerialQueue } from '@causeway/base/work/serial-queue';

export interface ConntrackCleanupOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Deletes connections to removed backends from conntrack. A failure causes no rollback. */
  deleteConnections(removed: readonly Removed[], signal: AbortSignal): Promise<void>;
  /** Deletes conntrack entries of these services that lead to none of their current backends. */
  deleteStaleEntries(services: readonly VirtualService[], signal: AbortSignal): Promise<void>;
}

/** Time for replies to packets that were sent to a removed backend that still serves. */
const answerWithinMs = 1_000;

/** Deletes conntrack entries after a change, so that the controller doesn't wait for conntrack. */
export class ConntrackCleanup {
  readonly #options: ConntrackCleanupOptions;
  readonly #queue = new SerialQueue();
  /** Removed backends whose connections the next deletion deletes. */
  readonly #removed: Removed[] = [];
  /** Removed backends whose unanswered connections are deleted after a delay. */
  readonly #unanswered: Removed[] = [];

  constructor(options: ConntrackCleanupOptions) {
    this.#options = options;
  }

  /** Deletes the connections to removed backends, for several changes together. */
  afterRemoval(removed: readonly Removed[], signal: AbortSignal): void {
    const { clock } = this.#options;
    const stillThere = removed.filter(({ keepsAnswered = false }) => keepsAnswered);
    this.#deleteSoon(
      removed.filter(({ keepsAnswered = false }) => !keepsAnswered),
      signal,
    );
    const isFirst = this.#unanswered.length === 0;
    this.#unanswered.push(...stillThere);
    if (stillThere.length === 0 || !isFirst) return;
    // A node that has parked a connection replays it at this moment, and its reply needs the conntrack entry.
    clock.timer(answerWithinMs, () => {
      const all = this.#unanswered.splice(0);
      if (!signal.aborted) this.#deleteSoon(all, signal);
    });
  }

  /**
   * Deletes conntrack entries that an earlier process could not delete before it ended. Only UDP, because its
   * flows have no end: a TCP connection to a removed backend ends alone, and a connection that an idle
   * Service's node has answered must continue.
   */
  afterStart(services: readonly VirtualService[], signal: AbortSignal): void {
    const endless = services.filter(
      ({ protocol, dispatch }) => protocol === 'UDP' && dispatch.kind === 'slots',
    );
    this.#inBackground(() => this.#options.deleteStaleEntries(endless, signal), signal);
  }

  /** Resolves when no deletion is running. */
  idle(): Promise<void> {
    return this.#queue.idle();
  }

  /** Each deletion reads the conntrack table, so one deletion takes all that has been removed until it starts. */
  #deleteSoon(removed: readonly Removed[], signal: AbortSignal): void {
    const isFirst = this.#removed.length === 0;
    this.#removed.push(...removed);
    if (removed.length === 0 || !isFirst) return;
    this.#inBackground(
      () => this.#options.deleteConnections(this.#removed.splice(0), signal),
      signal,
    );
  }

  #inBackground(work: () => Promise<void>, signal: AbortSignal): void {
    const { log } = this.#options;
    this.#queue.run(work).catch((error: unknown) => {
      if (signal.aborted) return;
      log.warn(
        { error: CausewayError.from(error) },
        'conntrack entries of removed endpoints may remain',
      );
    });
  }
}
