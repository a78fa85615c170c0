import type { Role } from '../../protocol/role.ts';

/** The facts about one gateway that decide whether a Service is served. */
export interface ServingFacts {
  readonly name: string;
  /** Why the gateway can't be reached or rejects updates, if so. */
  readonly failure: string | undefined;
  /** How long it has failed; undefined while it does not. */
  readonly downForMs: number | undefined;
  readonly isFenced: boolean;
  /** The newest confirmed generation. */
  readonly confirmed: number;
  /** The role that the gateway reports now; undefined while it reports none. */
  readonly role: Role | undefined;
  /** The last role that it reported. */
  readonly lastRole: Role | undefined;
}

/** Whether the gateways serve a generation. */
export type GenerationServing =
  | { readonly kind: 'served' }
  | {
      readonly kind: 'waiting';
      readonly message: string;
      /** The active gateway has failed for some time, so that waiting does not explain it. */
      readonly isFailing?: boolean;
    };

/** A gateway that restarts, or a controller that starts, fails for a shorter time. */
export const failingAfterMs = 5_000;

/**
 * The gateways that carry the traffic: those that report the role active. If none does, those that were active
 * when they last reported.
 */
export function carriersOf(gateways: readonly ServingFacts[]): readonly ServingFacts[] {
  const able = gateways.filter(({ isFenced }) => !isFenced);
  const active = able.filter(({ role }) => role === 'active');
  if (active.length > 0) return active;
  return able.filter(({ role, lastRole }) => role === undefined && lastRole === 'active');
}

/**
 * Decides whether a generation is served. What the active gateway serves counts: if it fails without the
 * generation, other gateways don't help. Standby gateways that fail are not waited for.
 */
export function decideServing(
  gateways: readonly ServingFacts[],
  generation: number,
): GenerationServing {
  const [first] = gateways;
  const reachable = gateways.filter(({ failure, isFenced }) => failure === undefined && !isFenced);
  if (reachable.length === 0) {
    const why = first === undefined ? 'none is configured' : (first.failure ?? 'all are fenced');
    return { kind: 'waiting', message: `No gateway can be reached: ${why}` };
  }
  const failed = carriersOf(gateways).find(
    ({ failure, confirmed }) => failure !== undefined && confirmed < generation,
  );
  if (failed !== undefined) {
    const message = `The active gateway ${failed.name} does not serve the current state: ${failed.failure}`;
    const isFailing = (failed.downForMs ?? 0) >= failingAfterMs;
    return { kind: 'waiting', message, isFailing };
  }
  const behind = gateways.filter(
    ({ failure, confirmed }) => failure === undefined && confirmed < generation,
  );
  if (behind.length === 0) return { kind: 'served' };
  return { kind: 'waiting', message: `Waiting for ${behind.map(({ name }) => name).join(', ')}` };
}
