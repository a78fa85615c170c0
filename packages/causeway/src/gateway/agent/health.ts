import type { Family } from '@causeway/base/address/address';
import type { KernelSetting } from '@causeway/netlink/kernel-settings';

/** How a gateway is, as far as its own machine is concerned. */
export interface HealthSigns {
  /** The kernel may differ from the accepted configuration. */
  readonly isDegraded: boolean;
  /** Why clients are not answered although the links are up: a route or an address is missing. */
  readonly linkIllness?: string | undefined;
  readonly kernelSettings: readonly KernelSetting[];
  /** What the gateway stands in its networks with. A kernel without the other one is well. */
  readonly families: ReadonlySet<Family>;
}

const forwarding: Readonly<Record<Family, string>> = {
  4: 'net.ipv4.ip_forward',
  6: 'net.ipv6.conf.all.forwarding',
};

/**
 * Why this gateway should not be master, if so. Only what is wrong with this machine alone counts: when
 * nodes are silent, the other gateway would not reach them either.
 */
export function illnessOf(signs: HealthSigns): string | undefined {
  if (signs.isDegraded) return 'the kernel may differ from what is accepted';
  if (signs.linkIllness !== undefined) return signs.linkIllness;
  const needed = new Set([...signs.families].map((family) => forwarding[family]));
  const off = signs.kernelSettings.find(({ name, found }) => needed.has(name) && found !== '1');
  return off === undefined ? undefined : `packets are not forwarded: ${off.name} can't be set`;
}

/**
 * - `well`
 * - `ill`: for a moment; it may pass
 * - `away`: the addresses were given up to another gateway, which is heard to have them
 * - `alone`: nobody has taken over, or has them any more, so the addresses are kept for a while
 */
export type Health =
  | { readonly kind: 'well' }
  | { readonly kind: 'ill'; readonly since: number }
  | {
      readonly kind: 'away';
      /** When another gateway was heard last, or when the addresses were given up. */
      readonly heardAt: number;
      readonly wellSince: number | undefined;
    }
  | { readonly kind: 'alone'; readonly since: number };

export interface HealthObservation {
  /** Milliseconds of a clock that only goes forward. */
  readonly now: number;
  readonly illness: string | undefined;
  /** Adverts of a peer have arrived since the last look. */
  readonly hearsPeer: boolean;
  /** There are other gateways that could take over. */
  readonly hasPeers: boolean;
  /** Clients are not answered, so that trying again to yield costs little. */
  readonly isUnanswering?: boolean;
}

export interface HealthPace {
  /** What passes by itself within this time moves nothing. */
  readonly patienceMs: number;
  /** Somebody else must have taken over by then, and must be heard as often from then on. */
  readonly relieveMs: number;
  /** Whoever was ill must have been well for so long. */
  readonly recoverMs: number;
  /** How long a gateway that nobody relieved keeps its addresses before it tries again. */
  readonly aloneMs: number;
  /** The same for a gateway that does not answer clients: another one may have been repaired meanwhile. */
  readonly aloneUnansweringMs: number;
}

/** So many adverts in a row don't get lost. */
const missableAdverts = 4;

export function healthPace(advertMs: number): HealthPace {
  return {
    patienceMs: 3_000,
    relieveMs: Math.max(3_000, missableAdverts * advertMs),
    recoverMs: 5_000,
    aloneMs: 300_000,
    aloneUnansweringMs: 15_000,
  };
}

/** What follows from how things were and what is new. An ill gateway is better than none. */
export function nextHealth(
  health: Health,
  observation: HealthObservation,
  pace: HealthPace,
): Health {
  const { now, illness, hearsPeer, hasPeers } = observation;
  switch (health.kind) {
    case 'well':
      return illness === undefined ? health : { kind: 'ill', since: now };
    case 'ill':
      if (illness === undefined) return { kind: 'well' };
      if (now - health.since < pace.patienceMs) return health;
      if (!hasPeers) return { kind: 'alone', since: now };
      return { kind: 'away', heardAt: now, wellSince: undefined };
    case 'away': {
      const heardAt = hearsPeer ? now : health.heardAt;
      const wellSince = illness === undefined ? (health.wellSince ?? now) : undefined;
      if (wellSince !== undefined && now - wellSince >= pace.recoverMs) return { kind: 'well' };
      if (now - heardAt >= pace.relieveMs) return { kind: 'alone', since: now };
      return { kind: 'away', heardAt, wellSince };
    }
    case 'alone': {
      if (illness === undefined) return { kind: 'well' };
      const keepMs = observation.isUnanswering === true ? pace.aloneUnansweringMs : pace.aloneMs;
      if (!hasPeers || now - health.since < keepMs) return health;
      // Without another wait: the gateway is known to be ill, and its alarm must not end for a moment.
      return { kind: 'away', heardAt: now, wellSince: undefined };
    }
    default:
      return health satisfies never;
  }
}
