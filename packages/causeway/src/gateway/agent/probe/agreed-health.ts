import type { Address } from '@causeway/base/address/address';

/** What is known about silent destinations, from both sides. */
export interface HealthSources {
  /** What this gateway's own probes say. */
  readonly own: ReadonlySet<Address>;
  /** What the controller handed to all gateways alike; undefined before it has. */
  readonly handed: ReadonlySet<Address> | undefined;
  /** Whether the controller is there to hand out anything. */
  readonly isControllerPresent: boolean;
}

/**
 * All gateways leave out whom the controller names, so that they choose alike. Whom this one can't reach
 * it leaves out besides, without waiting to be told: the controller may have lost its power together with
 * the destination, and its last word would count for as long as it lasts.
 */
export function agreedHealth(sources: HealthSources): ReadonlySet<Address> {
  const { own, handed, isControllerPresent } = sources;
  return isControllerPresent && handed !== undefined ? handed.union(own) : own;
}
