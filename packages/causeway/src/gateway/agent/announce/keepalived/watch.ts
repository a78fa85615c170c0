import { CausewayError } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { MetricDefinition, Metrics } from '@causeway/base/observability/metrics';
import type { KeepalivedAnnouncer } from './keepalived-announcer.ts';
import { readNotifications } from './notify.ts';
import type { KeepalivedProcess } from './process.ts';
import { notifiedSubject } from './render.ts';
import type { KeepalivedSettings } from './settings.ts';
import type { VrrpStatus } from './vrrp-status.ts';

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

/** The part of keepalived that is watched. */
export type WatchedAnnouncer = Pick<
  KeepalivedAnnouncer,
  'start' | 'findOrphans' | 'removeOrphans' | 'stateOnLink'
> & { readonly process: Pick<KeepalivedProcess, 'isRunning'> };

export interface KeepalivedWatchOptions {
  readonly mover: WatchedAnnouncer;
  readonly status: VrrpStatus;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How often to look whether keepalived is alive. */
  readonly aliveEveryMs: number;
  /** How often to look for leftovers on the links. */
  readonly sweepEveryMs: number;
}

/** Follows keepalived's state for as long as the signal lets it. */
export async function followVrrpState(
  settings: KeepalivedSettings,
  status: VrrpStatus,
  signal: AbortSignal,
): Promise<void> {
  const subject = notifiedSubject(settings);
  for await (const state of readNotifications(settings.files.notifyFifo, subject, signal)) {
    status.enter(state);
  }
}

/**
 * Starts keepalived again when it has died. What it left on the links stays for the moment: a peer takes
 * the addresses over within a few adverts, and until then packets still find us.
 */
export async function keepAlive(
  options: KeepalivedWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { mover, status, clock, log } = options;
  const restarts = options.metrics.counter(keepalivedMetrics.restarts);
  while (!signal.aborted) {
    await sleep(clock, options.aliveEveryMs, signal);
    if (await mover.process.isRunning()) continue;
    status.enter('STOP');
    log.error({}, 'keepalived is not running; starting it');
    try {
      await mover.start(signal);
      restarts.add({});
    } catch (error) {
      if (signal.aborted) throw error;
      log.error({ error: CausewayError.from(error) }, "keepalived can't be started");
      // Nobody answers for these addresses here any more, and a peer has them by now.
      await sleep(clock, options.sweepEveryMs, signal);
      // What the dead one had written last may have been read only now.
      if (!(await mover.process.isRunning())) status.enter('STOP');
      await removeLeftovers(options, signal);
    }
  }
}

/** A link may be gone with what was on it: no reason to end. */
async function removeLeftovers(
  { mover, log }: KeepalivedWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await mover.removeOrphans(await mover.findOrphans(signal), signal);
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ error: CausewayError.from(error) }, "the links can't be looked at");
  }
}

/** Removes leftovers, and sets right what is believed of the state where the link shows another. */
export async function sweepLinks(
  options: KeepalivedWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { mover, clock, log } = options;
  const removed = options.metrics.counter(keepalivedMetrics.orphans);
  while (!signal.aborted) {
    await sleep(clock, options.sweepEveryMs, signal);
    try {
      await correctState(options, signal);
      const orphans = await mover.findOrphans(signal);
      if (orphans.size === 0 || !(await mover.process.isRunning())) continue;
      for (const addresses of orphans.values()) removed.add({}, addresses.size);
      await mover.removeOrphans(orphans, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ error: CausewayError.from(error) }, "the links can't be looked at");
    }
  }
}

/** A notification that got lost would be believed forever; two looks in a row with no news outweigh it. */
async function correctState(options: KeepalivedWatchOptions, signal: AbortSignal): Promise<void> {
  const { mover, status, clock, log } = options;
  const before = status.transitions;
  const differs = async () => {
    const shown = await mover.stateOnLink(signal);
    const isMaster = status.state === 'MASTER';
    return shown !== undefined && (shown === 'MASTER') !== isMaster ? shown : undefined;
  };
  if ((await differs()) === undefined) return;
  await sleep(clock, options.sweepEveryMs, signal);
  const shown = await differs();
  if (shown === undefined || status.transitions !== before) return;
  log.warn({ shown, believed: status.state }, 'the link shows another VRRP state than was told');
  status.enter(shown);
}
