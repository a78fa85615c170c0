import type { Family } from '@causeway/base/address/address';
import type { Random } from '@causeway/base/simulation/random';
import type { KernelSetting } from '@causeway/netlink/kernel-settings';

/** The health of a gateway's own machine. */
export interface HealthSigns {
  /** The kernel may differ from the accepted configuration. */
  readonly isDegraded: boolean;
  /**
   * Why clients get no answers although the links are up: a route or an address is missing, or this gateway
   * alone reaches no backend.
   */
  readonly linkIllness?: string | undefined;
  readonly kernelSettings: readonly KernelSetting[];
  /** The families of the gateway's networks. Settings of the other family are ignored. */
  readonly families: ReadonlySet<Family>;
}

const forwarding: Readonly<Record<Family, string>> = {
  4: 'net.ipv4.ip_forward',
  6: 'net.ipv6.conf.all.forwarding',
};

/**
 * Why this gateway should not be active; undefined if it may be. Only faults of this machine count: if no
 * gateway reaches the nodes, another one would not serve either.
 */
export function illnessOf(signs: HealthSigns): string | undefined {
  if (signs.isDegraded) return 'the kernel may differ from the accepted configuration';
  if (signs.linkIllness !== undefined) return signs.linkIllness;
  const needed = new Set([...signs.families].map((family) => forwarding[family]));
  const off = signs.kernelSettings.find(({ name, found }) => needed.has(name) && found !== '1');
  return off === undefined ? undefined : `packets are not forwarded: ${off.name} can't be set`;
}

/**
 * - `well`
 * - `ill`: unhealthy, but possibly only for a moment
 * - `away`: the addresses were given up to another gateway, and it is active
 * - `alone`: no other gateway has the addresses, so this gateway keeps them for some time
 */
export type Health =
  | { readonly kind: 'well' }
  | { readonly kind: 'ill'; readonly since: number }
  | {
      readonly kind: 'away';
      /** Time of the last sign of another active gateway, or the time when the addresses were given up. */
      readonly heardAt: number;
      readonly wellSince: number | undefined;
    }
  | {
      readonly kind: 'alone';
      readonly since: number;
      /** Share of the interval that this gateway waits longer, from 0 to 1. */
      readonly delayShare: number;
    };

export interface HealthObservation {
  /** Milliseconds of a monotonic clock. */
  readonly now: number;
  readonly illness: string | undefined;
  /** A peer was active since the last check. */
  readonly hearsPeer: boolean;
  /** Other gateways exist that could take over. */
  readonly hasPeers: boolean;
  /** Clients get no answers, so another attempt to yield costs little. */
  readonly isUnanswering?: boolean;
}

export interface HealthPace {
  /** A fault that ends within this time has no effect. */
  readonly patienceMs: number;
  /** Another gateway must take over within this time. Later, its signs must not be missing for longer. */
  readonly relieveMs: number;
  /** Time that a gateway must be well before it takes part again. */
  readonly recoverMs: number;
  /**
   * Least time that an unhealthy gateway without relief keeps its addresses before it tries to yield again; at
   * most twice as long.
   */
  readonly aloneMs: number;
  /**
   * The same for a gateway that does not answer clients. Another gateway may have been repaired in the
   * meantime.
   */
  readonly aloneUnansweringMs: number;
}

/** `takeoverMs` is the time within which a peer takes over and an active peer gives a sign. */
export function healthPace(takeoverMs: number): HealthPace {
  return {
    patienceMs: 3_000,
    relieveMs: Math.max(3_000, takeoverMs),
    recoverMs: 5_000,
    aloneMs: 300_000,
    aloneUnansweringMs: 15_000,
  };
}

/**
 * The next health, from the previous one and the observation. An unhealthy gateway is better than none. Each
 * attempt to yield waits for another random time: two unhealthy gateways that try at the same moment would
 * each find that no other gateway takes over.
 */
export function nextHealth(
  health: Health,
  observation: HealthObservation,
  pace: HealthPace,
  random: Random,
): Health {
  const { now, illness, hearsPeer, hasPeers } = observation;
  const alone = (): Health => ({ kind: 'alone', since: now, delayShare: random() });
  switch (health.kind) {
    case 'well':
      return illness === undefined ? health : { kind: 'ill', since: now };
    case 'ill':
      if (illness === undefined) return { kind: 'well' };
      if (now - health.since < pace.patienceMs) return health;
      if (!hasPeers) return alone();
      return { kind: 'away', heardAt: now, wellSince: undefined };
    case 'away': {
      const heardAt = hearsPeer ? now : health.heardAt;
      const wellSince = illness === undefined ? (health.wellSince ?? now) : undefined;
      if (wellSince !== undefined && now - wellSince >= pace.recoverMs) return { kind: 'well' };
      if (now - heardAt >= pace.relieveMs) return alone();
      return { kind: 'away', heardAt, wellSince };
    }
    case 'alone': {
      if (illness === undefined) return { kind: 'well' };
      const leastMs = observation.isUnanswering === true ? pace.aloneUnansweringMs : pace.aloneMs;
      const keepMs = leastMs * (1 + health.delayShare);
      if (!hasPeers || now - health.since < keepMs) return health;
      // Changes at once: the gateway is known to be ill, and its alarm must not be interrupted.
      return { kind: 'away', heardAt: now, wellSince: undefined };
    }
    default:
      return health satisfies never;
  }
}
