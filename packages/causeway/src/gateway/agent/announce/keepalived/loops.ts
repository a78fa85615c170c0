import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Loop } from '@causeway/base/work/supervisor';
import type { Alarms } from '../../alarms.ts';
import { watchForStrangers } from '../duplicate-address.ts';
import type { RoleStatus } from '../role-status.ts';
import type { Adverts } from './adverts.ts';
import { watchForForgedAdverts } from './forged-adverts.ts';
import type { KeepalivedAnnouncer } from './keepalived-announcer.ts';
import { watchForSecondActive } from './second-active.ts';
import { watchForUnheardPeers } from './unheard-peers.ts';
import { vrrpPeers, type KeepalivedSettings } from './vrrp-networks.ts';
import { followState, keepAlive, sweepLinks, type WatchedAnnouncer } from './watch.ts';

export interface KeepalivedLoopsOptions {
  readonly settings: KeepalivedSettings;
  readonly announcer: WatchedAnnouncer & Pick<KeepalivedAnnouncer, 'isMeant' | 'linkNames'>;
  readonly status: RoleStatus;
  readonly adverts: Adverts;
  readonly alarms: Alarms;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Watches keepalived, its addresses on the links and the packets of other gateways. */
export function keepalivedLoops(options: KeepalivedLoopsOptions): Record<string, Loop> {
  const { settings, announcer, status, adverts, alarms, clock, log, metrics } = options;
  const watch = { announcer, status, clock, log, metrics, aliveEveryMs: 100, sweepEveryMs: 1_000 };
  const everyMs = Math.max(500, settings.advertIntervalMs * 2);
  const strangers = {
    clock,
    log,
    status,
    alarms,
    links: announcer.linkNames,
    isOurs: (address) => announcer.isMeant(address),
  } satisfies Parameters<typeof watchForStrangers>[0];
  const peers = vrrpPeers(settings);
  return {
    'keepalived state': (signal) => followState(settings, status, signal),
    keepalived: (signal) => keepAlive(watch, signal),
    links: (signal) => sweepLinks(watch, signal),
    'duplicate addresses': (signal) => watchForStrangers(strangers, signal),
    'second active gateway': (signal) =>
      watchForSecondActive({ clock, status, alarms, everyMs, adverts }, signal),
    'unheard peers': (signal) =>
      watchForUnheardPeers({ clock, status, alarms, everyMs, adverts }, signal),
    'forged adverts': (signal) =>
      watchForForgedAdverts({ clock, metrics, alarms, adverts, peers }, signal),
  };
}
