import type { Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { EnsureOutcome, Owner } from '../../services/provider.ts';
import type { Reservation } from './port-keeper.ts';
import type { ServicePorts } from './service-ports.ts';

/** How soon a Service that waits for something is looked at again. */
export const waitMs = 2_000;
const conflictRetryMs = 60_000;

/** Others may have its address by now: what it is served on must be looked up anew. */
export const lostDuringPlacement: EnsureOutcome = {
  kind: 'pending',
  message: 'The Neutron port of the Service was lost; the controller creates another one',
  retryAfterMs: 100,
};

/** Why the requested address can't be had, in words that its user can act on. */
export function notPlaced(
  reservation: Exclude<Reservation, { kind: 'port' }>,
  requested: Address | undefined,
  by: Owner | undefined,
): EnsureOutcome {
  if (reservation.kind === 'leaving') {
    const message = `Waiting until no gateway announces ${requested} for its former owner`;
    return { kind: 'pending', message, retryAfterMs: waitMs };
  }
  const who = by === undefined ? 'another Service' : `${by.namespace}/${by.name}`;
  const message =
    reservation.reason === 'taken'
      ? `${requested} is in use by ${who} on one of the same ports. Choose another address or other ports.`
      : `${requested} belongs to ${who}. To share the address, give both Services the same annotation causeway.dev/sharing-key.`;
  return { kind: 'refused', reason: 'AddressTaken', message };
}

/** What the port manager's failure means for the Service; thrown again where it is to be retried as one. */
export function notMade(error: unknown): EnsureOutcome {
  const { code, message, hint } = CausewayError.from(error);
  if (code === 'invalid') return { kind: 'refused', reason: 'AddressRefused', message };
  if (code === 'conflict') {
    // Whoever has it outside of the cluster tells nobody when it is free again.
    const retryAfterMs = conflictRetryMs;
    return { kind: 'refused', reason: 'AddressRefused', message, retryAfterMs };
  }
  if (code !== 'exhausted' || hint !== undefined) throw error;
  throw new CausewayError('exhausted', message, {
    cause: error,
    hint: "Raise the project's quota of ports and floating IPs, enlarge the subnet, or delete Services. The controller tries again.",
  });
}

/** A floating IP of the Service that is gone and can't be had again yet. */
export function lostAddress(ports: ServicePorts): EnsureOutcome | undefined {
  for (const { publicAddress, missing } of ports.values()) {
    if (missing === undefined) continue;
    const message = `The floating IP ${publicAddress} was lost and is not available now: ${missing}. The controller tries again.`;
    return { kind: 'refused', reason: 'FloatingIpLost', message };
  }
  return undefined;
}
