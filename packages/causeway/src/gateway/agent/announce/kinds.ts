import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { LayoutSettings } from '@causeway/nftables/compile/virtual-service';
import type { ServableAddresses } from '../apply/servable.ts';
import type { Kernel } from '../kernel.ts';
import type { AgentSettings } from '../settings.ts';
import type { Announcer } from './announcer.ts';
import { foreignAnnouncer } from './foreign-announcer.ts';
import { keepalivedKind } from './keepalived/kind.ts';
import { SimulatedAnnouncer } from './simulated-announcer.ts';

export interface AnnouncerOptions {
  readonly settings: AgentSettings;
  /** Addresses that can be announced with these settings. Others are left out. */
  readonly servable: ServableAddresses;
  readonly kernel: Pick<Kernel, 'counters'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The part of an announcer that is known before it runs. */
export interface AnnouncerKind {
  /** Throws `invalid` if the settings are incomplete. */
  check(settings: AgentSettings): void;
  /** The rules for the packets that the announcer needs to receive. */
  layout(settings: AgentSettings): Partial<LayoutSettings>;
  /** The addresses that can be announced, and the addresses that the announcer itself uses. */
  servable(settings: AgentSettings): ServableAddresses;
  open(options: AnnouncerOptions, signal: AbortSignal): Promise<Announcer>;
  /** The announcer that an ended agent left running. */
  leftRunning(settings: AgentSettings, clock: Clock): Pick<Announcer, 'drain'>;
}

const everyAddress: ServableAddresses = { families: new Set([4, 6]), taken: new Map() };

const withoutProgram: Omit<AnnouncerKind, 'open'> = {
  check: () => {},
  layout: () => ({}),
  servable: () => everyAddress,
  leftRunning: () => ({ drain: () => Promise.resolve() }),
};

const kinds: Readonly<Record<AgentSettings['addresses']['mover'], AnnouncerKind>> = {
  keepalived: keepalivedKind,
  foreign: {
    ...withoutProgram,
    open: ({ clock }) => Promise.resolve(foreignAnnouncer(clock)),
  },
  simulated: {
    ...withoutProgram,
    open: ({ settings, ...rest }) =>
      Promise.resolve(new SimulatedAnnouncer({ ...rest, group: settings.addresses.simulatedWith })),
  },
};

export function announcerKind({ addresses }: AgentSettings): AnnouncerKind {
  return kinds[addresses.mover];
}

/** Drains every announcer that an ended agent may have left running, with these or earlier settings. */
export async function drainLeftRunning(
  settings: AgentSettings,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (const kind of Object.values(kinds)) await kind.leftRunning(settings, clock).drain(signal);
}
