import type { KernelSetting } from '../nftables/kernel-settings.ts';

/** How a gateway is, as far as its own machine is concerned. */
export interface HealthSigns {
  /** The kernel may differ from the accepted configuration. */
  readonly isDegraded: boolean;
  readonly kernelSettings: readonly KernelSetting[];
}

const forwarding: ReadonlySet<string> = new Set([
  'net.ipv4.ip_forward',
  'net.ipv6.conf.all.forwarding',
]);

/**
 * Why this gateway should not be master, if so. Only what is wrong with this machine alone counts: when
 * nodes are silent, the other gateway would not reach them either.
 */
export function illnessOf({ isDegraded, kernelSettings }: HealthSigns): string | undefined {
  if (isDegraded) return 'the kernel may differ from what is accepted';
  const off = kernelSettings.find(({ name, found }) => forwarding.has(name) && found !== '1');
  return off === undefined ? undefined : `packets are not forwarded: ${off.name} can't be set`;
}

/**
 * - `well`
 * - `ill`: for a moment; it may pass
 * - `away`: the addresses were given up. `relieved` once another gateway was heard to have them
 * - `alone`: nobody took over, so the addresses were taken back, and are kept for a while
 */
export type Health =
  | { readonly kind: 'well' }
  | { readonly kind: 'ill'; readonly since: number }
  | {
      readonly kind: 'away';
      readonly since: number;
      readonly relieved: boolean;
      readonly wellSince: number | undefined;
    }
  | { readonly kind: 'alone'; readonly since: number };

export interface HealthNews {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: number;
  readonly illness: string | undefined;
  /** Adverts of a peer have arrived since the last look. */
  readonly hearsPeer: boolean;
}

export interface HealthPace {
  /** What passes by itself within this time moves nothing. */
  readonly patienceMs: number;
  /** Somebody else must have taken over by then. */
  readonly relieveMs: number;
  /** Whoever was ill must have been well for so long. */
  readonly recoverMs: number;
  /** How long a gateway that nobody relieved keeps its addresses before it tries again. */
  readonly aloneMs: number;
}

export const healthPace: HealthPace = {
  patienceMs: 3_000,
  relieveMs: 3_000,
  recoverMs: 5_000,
  aloneMs: 300_000,
};

/** What follows from how things were and what is new. An ill gateway is better than none. */
export function nextHealth(health: Health, news: HealthNews, pace: HealthPace): Health {
  const { now, illness, hearsPeer } = news;
  switch (health.kind) {
    case 'well':
      return illness === undefined ? health : { kind: 'ill', since: now };
    case 'ill':
      if (illness === undefined) return { kind: 'well' };
      if (now - health.since < pace.patienceMs) return health;
      return { kind: 'away', since: now, relieved: hearsPeer, wellSince: undefined };
    case 'away': {
      const relieved = health.relieved || hearsPeer;
      const wellSince = illness === undefined ? (health.wellSince ?? now) : undefined;
      if (wellSince !== undefined && now - wellSince >= pace.recoverMs) return { kind: 'well' };
      if (!relieved && now - health.since >= pace.relieveMs) return { kind: 'alone', since: now };
      return { ...health, relieved, wellSince };
    }
    case 'alone':
      if (illness === undefined) return { kind: 'well' };
      return now - health.since < pace.aloneMs ? health : { kind: 'ill', since: now };
    default:
      return health satisfies never;
  }
}
