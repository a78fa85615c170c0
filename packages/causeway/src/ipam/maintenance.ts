import { randomUUID } from 'node:crypto';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Allocator } from './allocator.ts';
import type { Decide } from './decision.ts';
import {
  reclaimable,
  reclaimExpired,
  serveQueue,
  sweep,
  sweepCredentials,
} from './maintenance-decisions.ts';
import { auditRoot, auditTime } from './keys.ts';
import { Refusal } from './refusal.ts';
import type { SiteView } from './site-view.ts';

export interface LedgerMaintenanceOptions {
  readonly allocator: Allocator;
  readonly clock: Clock;
  readonly log: Log;
  /** Retention time of the audit log. */
  readonly auditRetentionMs: number;
  readonly sweepEveryMs?: number;
}

/** The audit log is pruned in pieces of this size. */
const pruneSize = 100;

/** A gap between checks that exceeds their interval by this much means that the process was suspended. */
const standstillMs = 5_000;

/**
 * Periodic work: serving the queue, sweeping, reclaiming from clusters that promised to withdraw, pruning the
 * audit log. Every replica does it; the ledger's compare lets one succeed.
 */
export class LedgerMaintenance {
  readonly #options: Required<LedgerMaintenanceOptions>;
  /** Since when heartbeats could arrive: the ledger has answered all the time. */
  #servingSince: number | undefined;
  /** Time of the last check for reclaimable clusters. */
  #lastCheck = 0;

  constructor(options: LedgerMaintenanceOptions) {
    this.#options = { sweepEveryMs: 5_000, ...options };
  }

  async run(signal: AbortSignal): Promise<void> {
    let nextSweep = 0;
    while (!signal.aborted) {
      try {
        await this.#serveQueues(signal);
        if (this.#options.clock.monotonic() >= nextSweep) {
          await this.#sweepAll(signal);
          nextSweep = this.#options.clock.monotonic() + this.#options.sweepEveryMs;
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#servingSince = undefined;
        const { code, message } = CausewayError.from(error);
        if (code === 'internal') throw error;
        this.#options.log.warn({ code, problem: message }, 'housekeeping failed; trying again');
      }
      await this.#pause(nextSweep, signal);
    }
  }

  async #serveQueues(signal: AbortSignal): Promise<void> {
    for (const { name } of this.#sites()) {
      const hasWaiters = () => (this.#site(name)?.waiters.size ?? 0) > 0;
      while (hasWaiters() && !signal.aborted) {
        const served = await this.#change(name, serveQueue(name), signal);
        if (served === undefined) break;
      }
    }
  }

  async #sweepAll(signal: AbortSignal): Promise<void> {
    for (const { name } of this.#sites()) {
      try {
        while ((await this.#change(name, sweep(name), signal)) > 0) continue;
        await this.#reclaim(name, signal);
      } catch (error) {
        // A refusal concerns this site only.
        if (!(error instanceof Refusal)) throw error;
        this.#options.log.warn({ site: name, problem: error.message }, 'site not reclaimed');
      }
    }
    while ((await this.#change('credentials', sweepCredentials(), signal)) > 0) continue;
    await this.#pruneAudit(signal);
  }

  async #reclaim(name: string, signal: AbortSignal): Promise<void> {
    const { allocator, log } = this.#options;
    const servingSince = this.#noteServing();
    const site = this.#site(name);
    if (site === undefined) return;
    for (const { cluster, lastBeat } of reclaimable(site, allocator.now, servingSince)) {
      const decide = reclaimExpired(name, cluster, lastBeat, randomUUID());
      const { addresses } = await this.#change(name, decide, signal);
      log.warn(
        { site: name, cluster, addresses: addresses.length },
        'reclaimed an expired cluster',
      );
    }
  }

  /** A suspended process could not receive heartbeats either. */
  #noteServing(): number {
    const { allocator, clock, sweepEveryMs } = this.#options;
    const now = clock.monotonic();
    if (now - this.#lastCheck > sweepEveryMs + standstillMs) this.#servingSince = undefined;
    this.#lastCheck = now;
    this.#servingSince ??= allocator.now;
    return this.#servingSince;
  }

  async #pruneAudit(signal: AbortSignal): Promise<void> {
    const { allocator, auditRetentionMs } = this.#options;
    const to = `${auditRoot}${auditTime(allocator.now - auditRetentionMs)}`;
    for (;;) {
      const range = { from: auditRoot, to, limit: pruneSize, newestFirst: false };
      const old = await allocator.ledger.scan(range, signal);
      if (old.length === 0) return;
      await allocator.write(
        old.map(({ key }) => ({ key, value: undefined })),
        signal,
      );
    }
  }

  /**
   * Waits until the next sweep. If a request waits for an address, only until the next change or the end of a
   * quarantine.
   */
  async #pause(nextSweep: number, signal: AbortSignal): Promise<void> {
    const { clock, allocator } = this.#options;
    const waiting = this.#sites().filter(({ waiters }) => waiters.size > 0);
    const expired = waiting.flatMap((site) => site.nextExpiry() ?? []);
    const untilExpiry = Math.min(...expired) - allocator.now;
    const delayMs = Math.max(1, Math.min(nextSweep - clock.monotonic(), untilExpiry));
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const changed = allocator.follower.changed(either).then(async () => {
      // Only a site with a queue needs a check before the time is up.
      while (this.#sites().every(({ waiters }) => waiters.size === 0)) {
        await allocator.follower.changed(either);
      }
    });
    await Promise.race([sleep(clock, delayMs, either), changed]).catch(() => undefined);
    stop.abort();
    await changed.catch(() => undefined);
  }

  #sites(): SiteView[] {
    return this.#options.allocator.view.sites;
  }

  #site(name: string): SiteView | undefined {
    return this.#options.allocator.view.site(name);
  }

  #change<T>(queueKey: string, decide: Decide<T>, signal: AbortSignal): Promise<T> {
    const needs = { kind: 'operator' } as const;
    return this.#options.allocator.change(
      { caller: 'system', needs, queueKey: `housekeeping/${queueKey}`, decide },
      signal,
    );
  }
}
