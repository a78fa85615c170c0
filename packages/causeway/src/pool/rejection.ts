import type { Address } from '@causeway/base/address/address';
import type { CausewayError } from '@causeway/base/error/causeway-error';
import { Refusal, type RefusalReason } from '../ipam/refusal.ts';
import type { EnsureOutcome } from '../services/provider.ts';
import type { Holding } from './holding.ts';
import type { LedgerReservation } from './pool-ledger.ts';

/** Why there is no address: refused for good, or not yet, or no longer, or the ledger can't be asked. */
export type Rejected =
  | Extract<EnsureOutcome, { kind: 'refused' | 'pending' }>
  /** In the queue. */
  | { readonly kind: 'waiting' }
  /** What it had is somebody else's. */
  | { readonly kind: 'lost' };

/** Whether the ledger has decided about this very request, and not just failed, or refused to listen. */
export function isAnswer(error: CausewayError): boolean {
  return error instanceof Refusal || error.code === 'invalid' || error.code === 'aborted';
}

/**
 * Whether a Service goes on with what it holds although the ledger was not reached. One that was
 * stopped does not: only the ledger can say that nobody else was given its address since.
 */
export function goesOn(error: CausewayError, holding: Holding | undefined): holding is Holding {
  return holding !== undefined && holding.stoppedAt === undefined && !isAnswer(error);
}

function isGone(reason: RefusalReason | undefined): boolean {
  return reason === 'address-in-use' || reason === 'address-resting';
}

/**
 * Whether the ledger has to be asked if a Service still holds what it announces: a demand may be
 * refused for another family, or because the ledger knows nothing of it any more. A ledger that
 * recovers, or was moved, says nothing about who holds what.
 */
export function isInDoubt(error: CausewayError, holding: Holding | undefined): holding is Holding {
  if (holding === undefined || holding.addresses.length === 0) return false;
  if (!(error instanceof Refusal) || isGone(error.reason)) return false;
  return error.reason !== 'recovering' && error.reason !== 'moved';
}

/** Whether the reservation has all that the Service announces. */
export function isHeld(
  announced: readonly Address[],
  reservation: LedgerReservation | undefined,
): boolean {
  return announced.every((address) => reservation?.addresses.includes(address));
}

const askAgainMs = 5_000;

/** Refusals that waiting alone doesn't mend are the user's; undefined for those to be tried again. */
export function rejectionOf(
  error: CausewayError,
  holding: Holding | undefined,
): Rejected | undefined {
  const message = error.hint === undefined ? error.message : `${error.message}. ${error.hint}`;
  if (holding?.stoppedAt !== undefined && !isAnswer(error)) {
    return { kind: 'pending', message, retryAfterMs: askAgainMs, ingress: [] };
  }
  const reason = error instanceof Refusal ? error.reason : undefined;
  if (isGone(reason) && holding !== undefined && holding.addresses.length > 0) {
    return { kind: 'lost' };
  }
  if (reason === 'other-address') return { kind: 'refused', reason: 'AddressDiffers', message };
  if (error.code === 'invalid') return { kind: 'refused', reason: 'AddressRefused', message };
  return undefined;
}
