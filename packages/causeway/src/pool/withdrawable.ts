import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EnsureOutcome } from '../services/provider.ts';
import { announcers, type Announcer } from './announcer.ts';
import { readHolding } from './holding.ts';

/**
 * Whether the announcer of the Service can be stopped, so that the promise to stop announcing can be kept.
 */
export function canBeWithdrawn(service: Service): boolean {
  const holding = readHolding(service);
  return holding === undefined || announcers[holding.announcer].stopsWhen !== 'deleted';
}

/** With self-withdrawal, an announcer that can't be stopped is refused. */
export function refuseWithoutWithdrawal({
  title,
  stopsWhen,
}: Announcer): EnsureOutcome | undefined {
  if (stopsWhen !== 'deleted') return undefined;
  const message =
    `${title} announces the address until the Service is deleted, so the controller can't promise a withdrawal to the ledger. ` +
    'Use another announcer, or turn pool.selfWithdrawal off.';
  return { kind: 'refused', reason: 'CannotWithdraw', message };
}
