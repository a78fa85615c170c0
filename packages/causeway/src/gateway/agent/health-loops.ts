import path from 'node:path';
import { familyOf, type Family } from '@causeway/base/address/address';
import type { Clock } from '@causeway/base/time/clock';
import { systemRandom } from '@causeway/base/simulation/random';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Loop } from '@causeway/base/work/supervisor';
import type { Alarms } from './alarms.ts';
import type { Announcer, AnnouncerNetwork } from './announce/announcer.ts';
import type { Gateway } from './gateway.ts';
import { healthPace, illnessOf } from './health.ts';
import { watchHealth } from './health-watch.ts';
import type { Kernel } from './kernel.ts';
import { LinkWatch } from './links/link-watch.ts';
import { ip, readNetworkTexts } from './links/read-links.ts';
import type { GatewayState } from './store/state.ts';
import type { AgentSettings } from './settings.ts';

export interface HealthLoopsOptions {
  readonly settings: AgentSettings;
  readonly announcer: Announcer;
  readonly alarms: Alarms;
  readonly gateway: Pick<Gateway, 'isDegraded' | 'state'>;
  /** Why this gateway should yield because it reaches no backend. */
  cutOffIllness(): string | undefined;
  readonly kernel: Pick<Kernel, 'settings'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Watches all conditions of this machine for the active role. Empty if the announcer knows no network. */
export function healthLoops(options: HealthLoopsOptions): Record<string, Loop> {
  const { network } = options.announcer;
  if (network === undefined) return {};
  const linkWatch = watchLinks(options, network);
  return {
    'own links': (signal) => linkWatch.run(signal),
    health: (signal) => followHealth(options, network, linkWatch, signal),
  };
}

function followHealth(
  options: HealthLoopsOptions,
  network: AnnouncerNetwork,
  linkWatch: LinkWatch,
  signal: AbortSignal,
): Promise<void> {
  const { clock, kernel, alarms, announcer, gateway } = options;
  return watchHealth(
    {
      clock,
      alarms,
      announcer,
      network,
      pace: healthPace(network.takeoverMs),
      random: systemRandom,
      illness: () =>
        illnessOf({
          isDegraded: gateway.isDegraded,
          linkIllness: linkWatch.illness ?? options.cutOffIllness(),
          kernelSettings: kernel.settings(),
          families: network.families,
        }),
      isUnanswering: () => (linkWatch.illness ?? options.cutOffIllness()) !== undefined,
    },
    signal,
  );
}

function watchLinks(options: HealthLoopsOptions, { links }: AnnouncerNetwork): LinkWatch {
  const { settings, gateway, alarms, clock, log, metrics } = options;
  return new LinkWatch({
    alarms,
    clock,
    log,
    metrics,
    links,
    file: path.join(settings.runtimeDirectory, 'links.json'),
    restores: settings.links.restore,
    needsDefaultRoute: settings.links.defaultRoute === 'recorded',
    servedFamilies: () => familiesOf(gateway.state),
    readNetwork: readNetworkTexts,
    runIp: ip,
  });
}

function familiesOf({ frontends }: GatewayState): ReadonlySet<Family> {
  const found = new Set<Family>();
  for (const { address } of frontends.values()) {
    found.add(familyOf(address));
    if (found.size === 2) break;
  }
  return found;
}
