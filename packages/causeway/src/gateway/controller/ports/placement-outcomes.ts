import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { EnsureOutcome, Owner } from '../../../services/provider.ts';
import type { PortIds } from './annotations.ts';
import type { Reservation } from './reservation.ts';
import type { ServicePorts } from './service-ports.ts';

/** The Service has its ports. */
export interface Placed {
  readonly kind: 'placed';
  readonly ids: PortIds;
  /** Why the Service has no address of one family, which it prefers and does not require. */
  readonly missing: string | undefined;
}

/** The delay before a waiting Service is reconciled again. */
export const waitMs = 2_000;
const conflictRetryMs = 60_000;
/** No notification arrives when an address of the missing family becomes free outside of the cluster. */
export const missingFamilyRetryMs = 60_000;

/** Another Service may have the address now, so the served ports must be read again. */
export const lostDuringPlacement: EnsureOutcome = {
  kind: 'pending',
  message: 'The port was lost; the Service gets another one',
  retryAfterMs: 100,
};

/** Why the requested address is not available, with a remedy for the user. */
export function notPlaced(
  reservation: Exclude<Reservation, { kind: 'port' }>,
  requested: Address | undefined,
  by: Owner | undefined,
): EnsureOutcome {
  if (reservation.kind === 'leaving') {
    const message = `Waiting until no gateway announces ${requested} for its former owner`;
    return { kind: 'pending', message, retryAfterMs: waitMs };
  }
  const holder = by === undefined ? 'another Service' : `${by.namespace}/${by.name}`;
  const message =
    reservation.reason === 'taken'
      ? `${requested} is taken by ${holder} on one of the ports. Choose another address or other ports.`
      : `${requested} belongs to ${holder}. To share it, give both the same annotation causeway.dev/sharing-key.`;
  return { kind: 'refused', reason: 'AddressTaken', message };
}

/** The outcome for a failure of the port manager. Throws the error again if the reconcile must be retried. */
export function notMade(error: unknown): EnsureOutcome {
  const { code, message, hint } = CausewayError.from(error);
  if (code === 'invalid') return { kind: 'refused', reason: 'AddressRefused', message };
  if (code === 'conflict') {
    // No notification arrives when the address becomes free outside of the cluster.
    const retryAfterMs = conflictRetryMs;
    return { kind: 'refused', reason: 'AddressRefused', message, retryAfterMs };
  }
  if (code !== 'exhausted' || hint !== undefined) throw error;
  throw new CausewayError('exhausted', message, {
    cause: error,
    hint: "Raise the project's quota of ports and floating IPs, enlarge the subnet, or delete Services. The controller retries automatically.",
  });
}

/** The outcome if a floating IP of the Service was lost and can't be recreated yet. */
export function lostAddress(ports: ServicePorts): EnsureOutcome | undefined {
  for (const { publicAddress, missing } of ports.values()) {
    if (missing === undefined) continue;
    const message = `The floating IP ${publicAddress} was lost and can't be recreated now: ${missing}. The controller retries automatically.`;
    return { kind: 'refused', reason: 'FloatingIpLost', message };
  }
  return undefined;
}
