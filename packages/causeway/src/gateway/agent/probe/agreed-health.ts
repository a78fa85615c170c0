import type { Address } from '@causeway/base/address/address';

/** Unhealthy backends according to the gateway and the controller. */
export interface HealthSources {
  /** Unhealthy according to this gateway's own probes. */
  readonly own: ReadonlySet<Address>;
  /**
   * Unhealthy according to the controller, the same for all gateways; undefined before the controller sent
   * it.
   */
  readonly handed: ReadonlySet<Address> | undefined;
  /** Whether the controller is connected. */
  readonly isControllerPresent: boolean;
}

/**
 * All gateways exclude the backends that the controller names, so that they choose alike. A gateway also
 * excludes backends that it can't reach itself, without waiting for the controller. The controller may have
 * lost power together with the backend, and its last list would stay in use until it expires.
 */
export function agreedHealth(sources: HealthSources): ReadonlySet<Address> {
  const { own, handed, isControllerPresent } = sources;
  return isControllerPresent && handed !== undefined ? handed.union(own) : own;
}
