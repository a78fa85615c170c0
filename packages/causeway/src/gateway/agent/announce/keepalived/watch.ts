import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { KeepalivedAnnouncer } from './keepalived-announcer.ts';
import { enterState } from './enter-state.ts';
import { readNotifications } from './notify.ts';
import type { KeepalivedProcess } from './process.ts';
import { notifiedSubject } from './render.ts';
import type { KeepalivedSettings } from './vrrp-networks.ts';
import type { RoleStatus } from '../role-status.ts';

export const keepalivedMetrics = {
  restarts: {
    kind: 'counter',
    name: 'causeway_agent_keepalived_restarts_total',
    help: 'How often keepalived was found dead and started again.',
    labels: [],
  },
  orphans: {
    kind: 'counter',
    name: 'causeway_agent_orphaned_addresses_removed_total',
    help: 'Addresses that were left on a link after keepalived died, and removed.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** The part of {@link KeepalivedAnnouncer} that is watched. */
export type WatchedAnnouncer = Pick<
  KeepalivedAnnouncer,
  'start' | 'findOrphans' | 'removeOrphans' | 'stateOnLink' | 'isDrained'
> & { readonly process: Pick<KeepalivedProcess, 'isRunning'> };

export interface KeepalivedWatchOptions {
  readonly announcer: WatchedAnnouncer;
  readonly status: RoleStatus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Interval of checks whether keepalived runs. */
  readonly aliveEveryMs: number;
  /** Interval of checks for orphaned addresses on the links. */
  readonly sweepEveryMs: number;
}

/** Follows keepalived's state until the signal fires. */
export async function followState(
  settings: KeepalivedSettings,
  status: RoleStatus,
  signal: AbortSignal,
): Promise<void> {
  const subject = notifiedSubject(settings);
  for await (const state of readNotifications(settings.files.notifyFifo, subject, signal)) {
    enterState(status, state);
  }
}

/**
 * Restarts keepalived after it has died. Its addresses stay on the links at first: a peer takes them over
 * within a few adverts, and until then packets still arrive here.
 */
export async function keepAlive(
  options: KeepalivedWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { announcer, status, clock, log } = options;
  const restarts = options.metrics.counter(keepalivedMetrics.restarts);
  while (!signal.aborted) {
    await sleep(clock, options.aliveEveryMs, signal);
    if (announcer.isDrained || (await announcer.process.isRunning())) continue;
    enterState(status, 'STOP');
    log.error({}, 'keepalived is not running; starting it');
    try {
      await announcer.start(signal);
      restarts.add({});
    } catch (error) {
      if (signal.aborted) throw error;
      log.error({ error: CausewayError.from(error) }, "keepalived can't be started");
      // keepalived no longer manages these addresses here, and a peer has taken them over by now.
      await sleep(clock, options.sweepEveryMs, signal);
      // The last notification of the dead process may have been read only now.
      if (!(await announcer.process.isRunning())) enterState(status, 'STOP');
      await removeLeftovers(options, signal);
    }
  }
}

/** A link may be gone together with its addresses, so a failure doesn't end the agent. */
async function removeLeftovers(
  { announcer, log }: KeepalivedWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await announcer.removeOrphans(await announcer.findOrphans(signal), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ error: CausewayError.from(error) }, "the links can't be read");
  }
}

/** Removes orphaned addresses, and corrects the known state if the link shows another one. */
export async function sweepLinks(
  options: KeepalivedWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { announcer, clock, log } = options;
  const removed = options.metrics.counter(keepalivedMetrics.orphans);
  while (!signal.aborted) {
    await sleep(clock, options.sweepEveryMs, signal);
    try {
      await correctState(options, signal);
      const orphans = await announcer.findOrphans(signal);
      if (orphans.size === 0 || !(await announcer.process.isRunning())) continue;
      for (const addresses of orphans.values()) removed.add({}, addresses.size);
      await announcer.removeOrphans(orphans, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ error: CausewayError.from(error) }, "the links can't be read");
    }
  }
}

/**
 * A lost notification would leave a wrong state forever. Two consecutive checks without a change in between
 * correct it.
 */
async function correctState(options: KeepalivedWatchOptions, signal: AbortSignal): Promise<void> {
  const { announcer, status, clock, log } = options;
  const before = status.changes;
  const differs = async () => {
    const shown = await announcer.stateOnLink(signal);
    return shown !== undefined && (shown === 'MASTER') !== status.isActive ? shown : undefined;
  };
  if ((await differs()) === undefined) return;
  await sleep(clock, options.sweepEveryMs, signal);
  const shown = await differs();
  if (shown === undefined || status.changes !== before) return;
  log.warn(
    { shown, believed: status.role },
    'the VRRP state on the link differs from the last notification',
  );
  enterState(status, shown);
}
