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

  constructor(options: ConntrackCleanupOptions) {
    this.#options = options;
  }

  /** Deletes the connections to removed backends. */
  afterRemoval(removed: readonly Removed[], signal: AbortSignal): void {
    const { clock } = this.#options;
    const stillThere = removed.filter(({ keepsAnswered = false }) => keepsAnswered);
    this.#deleteNow(
      removed.filter(({ keepsAnswered = false }) => !keepsAnswered),
      signal,
    );
    if (stillThere.length === 0) return;
    // A node that has parked a connection replays it at this moment, and its reply needs the conntrack entry.
    clock.timer(answerWithinMs, () => {
      if (!signal.aborted) this.#deleteNow(stillThere, signal);
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

  #deleteNow(removed: readonly Removed[], signal: AbortSignal): void {
    if (removed.length === 0) return;
    this.#inBackground(() => this.#options.deleteConnections(removed, signal), signal);
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
