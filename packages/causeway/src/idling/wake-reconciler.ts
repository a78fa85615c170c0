import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import { nameFromKey } from '@causeway/kubernetes/objects/object';
import { endpoints } from '@causeway/kubernetes/objects/resources';
import type { Clock } from '@causeway/base/time/clock';
import {
  done,
  invalid,
  retryAfter,
  wait,
  type Outcome,
  type ReconcileContext,
} from '@causeway/base/work/controller';
import type { Metrics } from '@causeway/base/observability/metrics';
import {
  annotationsOf,
  describeTarget,
  hasIdledAt,
  idledAt,
  idledAtTime,
  type UnidleTarget,
} from './annotations.ts';
import { decideWake } from './decide-wake.ts';
import { coldStart, wakes } from './metric-definitions.ts';
import { hasLastingEndpoint } from './ready-endpoints.ts';
import { targetsOf, type Started, type Waker } from './waker.ts';

export interface WakeReconcilerOptions {
  readonly client: KubeClient;
  readonly waker: Waker;
  /** The Service as last seen. */
  readonly find: (key: string) => Service | undefined;
  /** The time of the last request for pods. */
  readonly requestedAt: (key: string) => number | undefined;
  readonly recordEvent: (service: Service, content: EventContent) => void;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** One idle period of a Service: from the first sight of its mark to the end. */
interface Sleep {
  readonly mark: string;
  readonly seenAt: number;
  /** When the wake-up began, by the monotonic clock. */
  wakingSince?: number;
  checks: number;
}

/** The controller stops waiting for pods after this time. Connections are then refused. */
const giveUpAfterMs = 600_000;
const checksMs = [100, 200, 400, 800, 1_500] as const;

/** Wakes a Service that a client requested. Level-triggered: safe to call at any time. */
export class WakeReconciler {
  readonly #options: WakeReconcilerOptions;
  readonly #sleeps = new Map<string, Sleep>();
  /** For each woken Service, the request that caused the wake-up. */
  readonly #answered = new Map<string, number>();
  readonly #wakes;
  readonly #coldStart;

  constructor(options: WakeReconcilerOptions) {
    this.#options = options;
    this.#wakes = options.metrics.counter(wakes);
    this.#coldStart = options.metrics.histogram(coldStart);
  }

  /** The number of idle Services, and of those that are being woken. */
  get counts(): { readonly asleep: number; readonly waking: number } {
    const all = [...this.#sleeps.values()];
    const waking = all.filter(({ wakingSince }) => wakingSince !== undefined).length;
    return { asleep: all.length - waking, waking };
  }

  /** A client requested the Service, and its pods are starting. */
  isWaking(key: string): boolean {
    return this.#sleeps.get(key)?.wakingSince !== undefined;
  }

  async reconcile(key: string, { signal }: ReconcileContext): Promise<Outcome> {
    const { find, requestedAt } = this.#options;
    const service = find(key);
    const sleep = this.#sleepOf(key, service);
    if (service === undefined) this.#answered.delete(key);
    if (service === undefined || sleep === undefined) return done;
    const decision = decideWake({
      isMarked: true,
      idledAt: idledAtTime(service),
      seenAt: sleep.seenAt,
      requestedAt: requestedAt(key),
      answeredAt: this.#answered.get(key),
    });
    if (decision !== 'wake') return wait('asleep, without a request');
    return this.#wake(key, service, sleep, signal);
  }

  /** The state of the current idle period. A new mark starts a new one. */
  #sleepOf(key: string, service: Service | undefined): Sleep | undefined {
    if (!hasIdledAt(service)) {
      this.#sleeps.delete(key);
      return undefined;
    }
    const mark = annotationsOf(service)[idledAt] ?? '';
    const known = this.#sleeps.get(key);
    if (known?.mark === mark) return known;
    const sleep = { mark, seenAt: this.#options.clock.wallTime(), checks: 0 };
    this.#sleeps.set(key, sleep);
    return sleep;
  }

  async #wake(key: string, service: Service, sleep: Sleep, signal: AbortSignal): Promise<Outcome> {
    const { client, waker, clock, recordEvent } = this.#options;
    const name = nameFromKey(key);
    const parsed = targetsOf(service, await client.find(endpoints, name, { signal }));
    if (!parsed.ok) {
      recordEvent(service, {
        reason: 'CannotWake',
        message: `${parsed.problem}.`,
      });
      this.#wakes.add({ outcome: 'unreadable' });
      return invalid(parsed.problem);
    }
    sleep.wakingSince ??= clock.monotonic();
    const result = await waker.start(name.namespace ?? '', parsed.targets, signal);
    this.#recordStarted(service, result);
    // The mark stays, because it triggers the next reconcile. Started targets serve in the meantime.
    if (result.failed[0] !== undefined) throw result.failed[0].error;
    const hasNothing = result.started.length + result.running.length === 0;
    const isReady = await hasLastingEndpoint(client, name, signal);
    const isLate = clock.monotonic() - sleep.wakingSince > giveUpAfterMs;
    if (!isReady && !hasNothing && !isLate) {
      const delayMs = checksMs[Math.min(sleep.checks, checksMs.length - 1)] ?? 1_500;
      sleep.checks += 1;
      return retryAfter(delayMs, 'started; no pod is ready yet');
    }
    const request = this.#options.requestedAt(key);
    await waker.finish(service, parsed.targets, signal);
    // Set only now: a retry must find the request unanswered.
    if (request !== undefined) this.#answered.set(key, request);
    this.#recordEnd(service, sleep, { isReady, hasNothing, targets: parsed.targets });
    return done;
  }

  #recordStarted(service: Service, { started, missing, failed }: Started): void {
    for (const { target, error } of failed) {
      const message = `${describeTarget(target)} can't be scaled up: ${error.message}. The controller tries again.`;
      this.#options.recordEvent(service, { reason: 'WakeFailed', message });
    }
    if (started.length > 0) {
      const what = started.map((target) => `${describeTarget(target)} to ${target.replicas}`);
      const message = `A client connects to this Service: scaled ${what.join(', ')}.`;
      this.#options.recordEvent(service, { reason: 'Waking', message });
    }
    if (missing.length > 0) {
      const what = missing.map(describeTarget).join(', ');
      const message = `${what} ran pods of this Service before the Service was put to sleep, and does not exist any more.`;
      this.#options.recordEvent(service, { reason: 'WakeTargetMissing', message });
    }
  }

  #recordEnd(
    service: Service,
    sleep: Sleep,
    end: { isReady: boolean; hasNothing: boolean; targets: readonly UnidleTarget[] },
  ): void {
    const { clock, recordEvent } = this.#options;
    const tookMs = clock.monotonic() - (sleep.wakingSince ?? clock.monotonic());
    if (end.isReady) {
      this.#wakes.add({ outcome: 'woken' });
      this.#coldStart.observe({}, tookMs / 1000);
      const message = `The Service has ready pods again after ${(tookMs / 1000).toFixed(1)} s.`;
      recordEvent(service, { reason: 'Woken', message });
      return;
    }
    this.#wakes.add({ outcome: end.hasNothing ? 'nothing-to-start' : 'not-ready' });
    const message = end.hasNothing
      ? 'No object is left that could be started for the Service. Connections are refused until the Service has pods.'
      : `The controller started the pods ${Math.round(giveUpAfterMs / 60_000)} minutes ago, and no pod is ready. Connections are refused until a pod is ready.`;
    recordEvent(service, { reason: 'WakeFailed', message });
  }
}
