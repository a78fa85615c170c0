import { CausewayError } from '../error/causeway-error.ts';
import type { Clock } from '../time/clock.ts';
import { queueDepth, reconcileDuration, reconcileRetries } from './controller-metrics.ts';
import { withDeadline } from '../time/deadline.ts';
import type { Log } from '../observability/log.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { WorkQueue } from './work-queue.ts';

/**
 * The result of a reconciliation:
 *
 * - `done`: the actual state is the desired state;
 * - `retryAfter`: not finished; reconcile again after the delay. This is not a failure;
 * - `wait`: nothing can be done until a watched object changes, which adds the key again;
 * - `invalid`: the object can't work as it is. The user is informed, and only a change of the object adds the
 *   key again.
 *
 * A thrown error is a failure and is retried with a growing delay.
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
  /** Has the controller's name and the key as fields. */
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
  /** A longer reconciliation is aborted and counts as a failure. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Works through the queue until the signal fires, then aborts the running reconciliations and waits for them.
 * Start it after the stores it reads have synced, so that nothing is written before the state is known.
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
    applyOutcome(queue, key, outcome, keyLog, signal.aborted);
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

function applyOutcome<Key extends string>(
  queue: WorkQueue<Key>,
  key: Key,
  outcome: Attempt,
  log: Log,
  isStopping: boolean,
): void {
  switch (outcome.kind) {
    case 'done':
      queue.forget(key);
      log.debug({}, 'reconciled');
      return;
    case 'retryAfter':
      queue.forget(key);
      queue.addAfter(key, outcome.delayMs);
      log.debug({ reason: outcome.reason, delayMs: outcome.delayMs }, 'reconciling again later');
      return;
    case 'wait':
      queue.forget(key);
      log.debug({ reason: outcome.reason }, 'waiting for a change');
      return;
    case 'invalid':
      queue.forget(key);
      log.warn({ reason: outcome.reason }, 'the object is invalid');
      return;
    case 'failed': {
      // Only while the controller itself stops. An inner operation can be aborted for other reasons, such as
      // a closed connection; a key dropped then would never be reconciled again.
      if (isStopping && outcome.error.code === 'aborted') return;
      const delayMs = queue.addAfterFailure(key);
      const failures = queue.failures(key);
      log.warn({ error: outcome.error, failures, delayMs }, 'reconciliation failed, will retry');
    }
  }
}
