import path from 'node:path';
import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import type { Clock } from '@causeway/base/time/clock';
import { systemRandom } from '@causeway/base/simulation/random';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Loop } from '@causeway/base/work/supervisor';
import type { Alarms } from '../alarms.ts';
import { watchForStrangers } from './duplicate-address.ts';
import { watchForSecondActive } from './duplicate-active.ts';
import { watchForForgedAdverts } from './forged-adverts.ts';
import type { Gateway } from '../gateway.ts';
import { healthPace, illnessOf } from '../health.ts';
import { watchHealth } from '../health-watch.ts';
import type { FaultReasons } from './keepalived/fault-reasons.ts';
import type { KeepalivedAnnouncer } from './keepalived/keepalived-announcer.ts';
import type { VrrpStatus } from './keepalived/vrrp-status.ts';
import { followVrrpState, keepAlive, sweepLinks } from './keepalived/watch.ts';
import type { Kernel } from '../kernel.ts';
import { LinkWatch } from '../links/link-watch.ts';
import { ip, readNetworkTexts } from '../links/read-links.ts';
import type { GatewayState } from '../store/state.ts';
import { keepalivedSettings, vrrpPeers, type AgentSettings } from '../settings.ts';

export interface AddressLoopsOptions {
  readonly settings: AgentSettings;
  readonly mover: KeepalivedAnnouncer;
  readonly status: VrrpStatus;
  readonly faults: FaultReasons;
  readonly alarms: Alarms;
  readonly gateway: Pick<Gateway, 'isDegraded' | 'state'>;
  /** Why this gateway should yield because it reaches no backend. */
  cutOffIllness(): string | undefined;
  readonly kernel: Kernel;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Watches keepalived, the links and all other conditions for holding addresses. */
export function addressLoops(options: AddressLoopsOptions): Record<string, Loop> {
  const { settings, mover, status, alarms, kernel, clock, log, metrics } = options;
  const keepalived = keepalivedSettings(settings);
  const linkWatch = watchLinks(options);
  const watch = { mover, status, clock, log, metrics, aliveEveryMs: 100, sweepEveryMs: 1_000 };
  return {
    'VRRP state': (signal) => followVrrpState(keepalived, status, signal),
    keepalived: (signal) => keepAlive(watch, signal),
    links: (signal) => sweepLinks(watch, signal),
    'own links': (signal) => linkWatch.run(signal),
    health: (signal) => followHealth(options, linkWatch, signal),
    'duplicate addresses': (signal) =>
      watchForStrangers(
        {
          clock,
          log,
          status,
          alarms,
          links: mover.links,
          isOurs: (address) => mover.isMeant(address),
        },
        signal,
      ),
    'second master': (signal) =>
      watchForSecondActive(
        {
          clock,
          status,
          alarms,
          everyMs: Math.max(500, settings.addresses.advertMs * 2),
          countAdverts: (each) => kernel.countAdverts(each),
        },
        signal,
      ),
    'forged adverts': (signal) =>
      watchForForgedAdverts(
        { clock, metrics, alarms, kernel, peers: vrrpPeers(keepalived) },
        signal,
      ),
  };
}

function followHealth(
  options: AddressLoopsOptions,
  linkWatch: LinkWatch,
  signal: AbortSignal,
): Promise<void> {
  const { clock, kernel, settings, alarms, faults, gateway } = options;
  const keepalived = keepalivedSettings(settings);
  const families = new Set(
    keepalived.networks.flatMap((network) => network.families.map(({ family }) => family)),
  );
  return watchHealth(
    {
      clock,
      alarms,
      faults,
      pace: healthPace(settings.addresses.advertMs),
      random: systemRandom,
      hasPeers: vrrpPeers(keepalived).length > 0,
      illness: () =>
        illnessOf({
          isDegraded: gateway.isDegraded,
          linkIllness: linkWatch.illness ?? options.cutOffIllness(),
          kernelSettings: kernel.settings(),
          families,
        }),
      isUnanswering: () => (linkWatch.illness ?? options.cutOffIllness()) !== undefined,
      countAdverts: (each) => kernel.countAdverts(each),
    },
    signal,
  );
}

/** Watches the links that keepalived moves addresses on. */
function watchLinks(options: AddressLoopsOptions): LinkWatch {
  const { settings, gateway, alarms, clock, log, metrics } = options;
  const own = new Map<string, Address[]>();
  for (const { interface: name, families } of keepalivedSettings(settings).networks) {
    own.set(name, [...(own.get(name) ?? []), ...families.map(({ source }) => source)]);
  }
  return new LinkWatch({
    alarms,
    clock,
    log,
    metrics,
    links: [...own].map(([name, addresses]) => ({ name, own: addresses })),
    file: path.join(settings.runtimeDirectory, 'links.json'),
    restores: settings.links.restore,
    needsDefaultRoute: settings.links.defaultRoute === 'recorded',
    servedFamilies: () => familiesOf(gateway.state),
    readNetwork: readNetworkTexts,
    runIp: ip,
  });
}

function familiesOf({ endpoints }: GatewayState): ReadonlySet<Family> {
  const found = new Set<Family>();
  for (const { address } of endpoints.values()) {
    found.add(familyOf(address));
    if (found.size === 2) break;
  }
  return found;
}
