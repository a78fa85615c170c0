import type { Address } from '../../domain/address.ts';

/** What is known about silent destinations, from both sides. */
export interface SilenceSources {
  /** What this gateway's own probes say. */
  readonly own: ReadonlySet<Address>;
  /** What the controller handed to all gateways alike; undefined before it has. */
  readonly handed: ReadonlySet<Address> | undefined;
  /** Whether the controller is there to hand out anything. */
  readonly isControllerPresent: boolean;
}

/** All gateways act alike while the controller answers for them, and each on its own while it can't. */
export function agreedSilence(sources: SilenceSources): ReadonlySet<Address> {
  const { own, handed, isControllerPresent } = sources;
  return isControllerPresent && handed !== undefined ? handed : own;
}
