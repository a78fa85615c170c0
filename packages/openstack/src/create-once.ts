import { backoffDelay, type BackoffPolicy } from '@causeway/base/time/backoff';
import { type Clock, sleep } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';
import { OpenStackError } from './error.ts';
import { isLocked } from './load-balancing/lock.ts';
import { isGatewayStatus } from './retry.ts';

export interface Creation<T> {
  create(): Promise<T>;
  /**
   * Searches for the object that an earlier attempt may have created. Undefined if the object can't be
   * recognized.
   */
  readonly find: (() => Promise<T | undefined>) | undefined;
  /** Search before the first attempt too. */
  readonly mayExist: boolean;
}

export interface CreationPace {
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/**
 * The pauses before each search after a lost answer. The service may still process a request after its connection
 * is closed, so one search is not enough to conclude that it failed.
 */
const attempts = 4;
const retryPause: BackoffPolicy = { baseMs: 250, maxMs: 2_000, jitter: 0.2 };
const mostTries = 4;

/**
 * Creates an object exactly once. After a lost answer it searches for the object and repeats the create only
 * if none is found. A conflict after a lost answer is usually caused by our own object.
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
      // A lock alone does not show that our object exists. After a lost answer it may: the lock can be caused
      // by our own create.
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

/** A service that failed internally would fail again. A service that was unreachable may be back. */
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
