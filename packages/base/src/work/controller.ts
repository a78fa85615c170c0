import { CausewayError } from '../error/causeway-error.ts';
import type { Clock } from '../time/clock.ts';
import { queueDepth, reconcileDuration, reconcileRetries } from './controller-metrics.ts';
import { withDeadline } from '../time/deadline.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { WorkQueue } from './work-queue.ts';

/**
 * How a reconciliation ended:
 *
 * - `done`: the world is as wanted;
 * - `retryAfter`: not yet, and looking again at that time is the plan, not a failure;
 * - `wait`: nothing can be done until something it watches changes, which adds the key again;
 * - `invalid`: the object can never work as it is; the user has been told, and only a change
 *   of the object brings it back.
 *
 * Anything thrown is a failure and is tried again with a growing delay.
 */
export type Outcome =
  | { readonly kind: 'done' }
  | { readonly kind: 'retryAfter'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'wait'; readonly reason: string }
  | { readonly kind: 'invalid'; readonly reason: string };

export const done: Outcome = { kind: 'done' };
export const retryAfter = (delayMs: number, reason: string): Outcome => ({
  kind: 'retryAfter',
  delayMs,
  reason,
});
export const wait = (reason: string): Outcome => ({ kind: 'wait', reason });
export const invalid = (reason: string): Outcome => ({ kind: 'invalid', reason });

export interface ReconcileContext {
  readonly signal: AbortSignal;
  /** Carries the controller's name and the key. */
  readonly log: Log;
}

export type Reconcile<Key extends string> = (
  key: Key,
  context: ReconcileContext,
) => Promise<Outcome>;

export interface ControllerOptions<Key extends string> {
  readonly name: string;
  readonly queue: WorkQueue<Key>;
  readonly reconcile: Reconcile<Key>;
  readonly workers: number;
  /** A reconciliation that takes longer is aborted and counts as a failure. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Works through the queue until the signal fires, then lets the reconciliations under way see the
 * abort and waits for them. Nothing is written before everything is known: start it after the
 * stores it reads have synced.
 */
export async function runController<Key extends string>(
  options: ControllerOptions<Key>,
  signal: AbortSignal,
): Promise<void> {
  const { queue } = options;
  const stop = () => queue.shutDown();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  const work = makeWorker(options, signal);
  await Promise.all(Array.from({ length: options.workers }, work));
  signal.removeEventListener('abort', stop);
}

function makeWorker<Key extends string>(
  options: ControllerOptions<Key>,
  signal: AbortSignal,
): () => Promise<void> {
  const { name, queue, clock, metrics } = options;
  const log = options.log.child({ controller: name });
  const depth = metrics.gauge(queueDepth);
  const duration = metrics.histogram(reconcileDuration);
  const retries = metrics.counter(reconcileRetries);
  const reconcileOnce = async (key: Key): Promise<void> => {
    const keyLog = log.child({ key });
    const started = clock.monotonic();
    const outcome = await attempt(options, key, keyLog, signal);
    duration.observe(
      { controller: name, outcome: outcome.kind },
      (clock.monotonic() - started) / 1000,
    );
    if (outcome.kind === 'failed') retries.add({ controller: name });
    settle(queue, key, outcome, keyLog, signal.aborted);
  };
  return async () => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      depth.set({ controller: name }, queue.depth);
      if (!signal.aborted) await reconcileOnce(key);
      queue.done(key);
    }
  };
}

type Attempt = Outcome | { readonly kind: 'failed'; readonly error: CausewayError };

async function attempt<Key extends string>(
  options: ControllerOptions<Key>,
  key: Key,
  log: Log,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    return await withDeadline(
      options.clock,
      options.deadlineMs,
      signal,
      `reconciling ${key}`,
      (limited) => options.reconcile(key, { signal: limited, log }),
    );
  } catch (error) {
    return { kind: 'failed', error: CausewayError.from(error) };
  }
}

function settle<Key extends string>(
  queue: WorkQueue<Key>,
  key: Key,
  outcome: Attempt,
  log: Log,
  isStopping: boolean,
): void {
  switch (outcome.kind) {
    case 'done':
      queue.forget(key);
      log.debug({}, 'as it should be');
      return;
    case 'retryAfter':
      queue.forget(key);
      queue.addAfter(key, outcome.delayMs);
      log.debug({ reason: outcome.reason, delayMs: outcome.delayMs }, 'looking again later');
      return;
    case 'wait':
      queue.forget(key);
      log.debug({ reason: outcome.reason }, 'waiting for a change');
      return;
    case 'invalid':
      queue.forget(key);
      log.warn({ reason: outcome.reason }, 'the object is invalid as it is');
      return;
    case 'failed': {
      // Only where we are being stopped ourselves: something inside may have been aborted for reasons of
      // its own, such as a connection that was given up, and who is dropped then is never looked at again.
      if (isStopping && outcome.error.code === 'aborted') return;
      const delayMs = queue.addAfterFailure(key);
      const failures = queue.failures(key);
      log.warn({ error: outcome.error, failures, delayMs }, 'reconciliation failed, will retry');
    }
  }
}
