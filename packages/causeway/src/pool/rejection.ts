import type { Address } from '@causeway/base/address/address';
import type { CausewayError } from '@causeway/base/error/causeway-error';
import { Refusal, type RefusalReason } from '../ipam/refusal.ts';
import type { EnsureOutcome } from '../services/provider.ts';
import type { Holding } from './holding.ts';
import type { LedgerReservation } from './pool-ledger.ts';

/** Why there is no address: refused, not yet available, lost, or the ledger is not reachable. */
export type Rejected =
  | Extract<EnsureOutcome, { kind: 'refused' | 'pending' }>
  /** In the queue of the pool. */
  | { readonly kind: 'waiting' }
  /** The former address belongs to another owner. */
  | { readonly kind: 'lost' };

/** Whether the ledger has decided about this request. Failures and refused connections are no decisions. */
export function isAnswer(error: CausewayError): boolean {
  return error instanceof Refusal || error.code === 'invalid' || error.code === 'aborted';
}

/**
 * Whether a Service keeps its address although the ledger is not reachable. A stopped Service does not: only
 * the ledger knows whether the address was assigned to another owner in the meantime.
 */
export function goesOn(error: CausewayError, holding: Holding | undefined): holding is Holding {
  return holding !== undefined && holding.stoppedAt === undefined && !isAnswer(error);
}

function isGone(reason: RefusalReason | undefined): boolean {
  return reason === 'address-in-use' || reason === 'address-resting';
}

/**
 * Whether the ledger must confirm that the Service still holds its addresses. A request may be refused
 * because of another family, or because the ledger has no reservation any more. A recovering or moved ledger
 * gives no information about reservations.
 */
export function isInDoubt(error: CausewayError, holding: Holding | undefined): holding is Holding {
  if (holding === undefined || holding.addresses.length === 0) return false;
  if (!(error instanceof Refusal) || isGone(error.reason)) return false;
  return error.reason !== 'recovering' && error.reason !== 'moved';
}

/** Whether the reservation has all addresses that the Service announces. */
export function isHeld(
  announced: readonly Address[],
  reservation: LedgerReservation | undefined,
): boolean {
  return announced.every((address) => reservation?.addresses.includes(address));
}

const askAgainMs = 5_000;

/** Rejections that waiting does not fix are returned to the user. Undefined for those to try again. */
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
