import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { Allocator } from './allocator.ts';
import { refuseRestoredStore } from './backup.ts';
import { startApiServer, type ApiOptions } from './api/server.ts';
import { isTransient } from './follower.ts';
import { Heartbeats } from './heartbeats.ts';
import { LedgerSession } from './ledger-session.ts';
import { LedgerMaintenance } from './maintenance.ts';
import type { Ledger } from './ledger.ts';
import { Platforms, type PlatformDrivers } from './platform/platforms.ts';
import { usageGauges } from './usage.ts';
import { WriteWatch } from './write-watch.ts';

export interface ReplicaOptions
  extends Pick<ApiOptions, 'host' | 'port' | 'tls' | 'rateLimit' | 'strangerLimit'> {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly auditRetentionMs: number;
  readonly sweepEveryMs?: number;
  /** Platforms that prepare addresses of their pools. */
  readonly platforms?: PlatformDrivers;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

export interface Replica {
  readonly url: string;
  readonly allocator: Allocator;
  /** Resolves after `stop`. */
  readonly done: Promise<void>;
  /** Why this server is not ready; undefined if it is. */
  problem(): string | undefined;
  /** Why this server can't change anything, although it answers; undefined if it can. */
  writeProblem(): string | undefined;
  stop(): Promise<void>;
}

const gaugesEveryMs = 10_000;
const retryMs = 500;
const platformSweepMs = 60_000;

/** One server: the allocator on its ledger, its maintenance, and the API. Resolves when the API answers. */
export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { ledger, clock, log, metrics } = options;
  await checkStore(options).catch(async (error: unknown) => {
    await ledger.close();
    throw error;
  });
  const allocator = new Allocator({ ledger, clock, log, metrics });
  const housekeeper = new LedgerMaintenance({ allocator, ...options });
  const platforms = new Platforms({
    allocator,
    clock,
    log,
    drivers: options.platforms ?? new Map(),
    sweepEveryMs: options.sweepEveryMs ?? platformSweepMs,
  });
  const stopping = new AbortController();
  const writes = new WriteWatch({ ledger, clock, log, metrics });
  const session = new LedgerSession({ allocator, clock, log, metrics });
  const loops = {
    follower: (signal: AbortSignal) => allocator.follower.run(signal),
    housekeeper: (signal: AbortSignal) => housekeeper.run(signal),
    platforms: (signal: AbortSignal) => platforms.run(signal),
    writes: (signal: AbortSignal) => writes.run(signal),
    gauges: (signal: AbortSignal) => keepGauges(allocator, options, signal),
  };
  const done = session.run(loops, stopping.signal);
  const started = new AbortController();
  try {
    const failed = done.then(() => {
      throw new CausewayError('aborted', 'stopped before it was ready');
    });
    await Promise.race([failed, allocator.follower.reached(1, started.signal)]);
    const api = await startApiServer({
      ...options,
      allocator,
      heartbeats: new Heartbeats(allocator),
      platforms,
    });
    return {
      url: api.url,
      allocator,
      done,
      problem: () => session.problem,
      writeProblem: () => writes.problem,
      async stop() {
        await api.close();
        stopping.abort();
        await done;
        await ledger.close();
      },
    };
  } catch (error) {
    stopping.abort();
    await done;
    await ledger.close();
    throw error;
  } finally {
    started.abort();
  }
}

async function keepGauges(
  allocator: Allocator,
  { clock, metrics }: ReplicaOptions,
  signal: AbortSignal,
): Promise<void> {
  const setGauges = usageGauges(metrics);
  while (!signal.aborted) {
    setGauges(allocator.view, allocator.now);
    await sleep(clock, gaugesEveryMs, signal);
  }
}

/** Waits for a store that can't be reached yet; rejects a restored store at once. */
async function checkStore({ ledger, clock, log, signal }: ReplicaOptions): Promise<void> {
  for (;;) {
    try {
      await refuseRestoredStore(ledger, signal);
      return;
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      log.warn({ problem: CausewayError.from(error).message }, 'waiting for the ledger');
      await sleep(clock, retryMs, signal);
    }
  }
}
