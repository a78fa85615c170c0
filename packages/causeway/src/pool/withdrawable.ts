import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EnsureOutcome } from '../services/provider.ts';
import { announcers, type Announcer } from './announcer.ts';
import { readHolding } from './holding.ts';

/** The promise to stop announcing can't be kept for a Service of an announcer that doesn't listen. */
export function canBeWithdrawn(service: Service): boolean {
  const holding = readHolding(service);
  return holding === undefined || announcers[holding.announcer].stopsWhen !== 'deleted';
}

/** Where that promise is made, nothing is given to such an announcer. */
export function refuseWithoutWithdrawal({
  title,
  stopsWhen,
}: Announcer): EnsureOutcome | undefined {
  if (stopsWhen !== 'deleted') return undefined;
  const message =
    `${title} announces until the Service is deleted, whatever it is told: nothing can be promised to the ledger. ` +
    'Use another announcer, or turn pool.selfWithdrawal off.';
  return { kind: 'refused', reason: 'CannotWithdraw', message };
}
