import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { type Clock, sleep } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';
import { OpenStackError } from './error.ts';
import { isLocked } from './load-balancing/lock.ts';
import { isGatewayStatus } from './retry.ts';

export interface Creation<T> {
  create(): Promise<T>;
  /** Looks for what an earlier try may have made. Undefined where nothing could recognise it. */
  readonly find: (() => Promise<T | undefined>) | undefined;
  /** Look before the first try too. */
  readonly mayExist: boolean;
}

export interface CreationPace {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * The pauses before each look after a lost answer. The service may still be at work on a request whose
 * connection is gone, so one look is not enough to say that nothing came of it.
 */
const attempts = 4;
const retryPause: BackoffPolicy = { baseMs: 250, maxMs: 2_000, jitter: 0.2 };
const mostTries = 4;

/**
 * Creates an object, once. An answer that got lost is followed by looks for the object, and only when
 * they find nothing by another try. A conflict after a lost answer is most often our own object.
 */
export async function createOnce<T>(creation: Creation<T>, pace: CreationPace): Promise<T> {
  const { find } = creation;
  if (find === undefined) return creation.create();
  let mayBeThere = creation.mayExist;
  let hasLost = false;
  if (mayBeThere) {
    const found = await find();
    if (found !== undefined) return found;
  }
  for (let tries = 1; ; tries += 1) {
    try {
      return await creation.create();
    } catch (error) {
      const lost = error instanceof OpenStackError && error.outcome === 'unknown';
      const conflict = error instanceof OpenStackError && error.status === 409;
      // Somebody else's lock says nothing about our object, unless an answer was lost: then it may be ours.
      const ours = conflict && mayBeThere && (hasLost || !isLocked(error));
      if (pace.signal.aborted || !(lost || ours)) throw error;
      mayBeThere = true;
      hasLost ||= lost;
      const found = await findRepeatedly(find, pace);
      if (found !== undefined) return found;
      if (ours || tries >= mostTries || !isWorthRepeating(error)) throw error;
    }
  }
}

/** A service that failed by itself would fail again; one that was out of reach may be back. */
function isWorthRepeating({ status }: OpenStackError): boolean {
  return status === undefined || isGatewayStatus(status);
}

async function findRepeatedly<T>(
  find: () => Promise<T | undefined>,
  { clock, random, signal }: CreationPace,
): Promise<T | undefined> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const found = await find();
    if (found !== undefined) return found;
    await sleep(clock, backoffDelay(retryPause, attempt, random), signal);
  }
  return undefined;
}
