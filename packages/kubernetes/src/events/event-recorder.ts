import { CausewayError, isErrorCode } from '@causeway/base/error/causeway-error';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { WakeUp } from '@causeway/base/work/wake-up';
import type { KubeClient } from '../client/client.ts';
import type { Event } from '../objects/core-objects.ts';
import { KubeError } from '../client/error.ts';
import { eventsRecorded } from '../client/kube-metrics.ts';
import type { KubeObject, ObjectReference } from '../objects/object.ts';
import type { EventDefinition, EventReason } from './event-definition.ts';
import { RateLimit } from '../client/rate-limit.ts';
import { apiVersionOf, type Resource } from '../objects/resource.ts';
import { events } from '../objects/resources.ts';

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** The source that `kubectl describe` shows: `causeway-controller`. */
  readonly component: string;
  /** The instance: the name of the host or the pod. */
  readonly instance: string;
  /** The type in the definition of an Event. */
  readonly eventType: (reason: EventReason) => EventDefinition['type'];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** An Event for the recorder. The type comes from the definition of the reason. */
export interface EventContent {
  readonly reason: EventReason;
  /** A sentence for the user who owns the object. */
  readonly message: string;
}

interface Pending {
  readonly about: ObjectReference;
  readonly content: EventContent;
  readonly type: EventDefinition['type'];
  readonly firstAt: number;
  lastAt: number;
  count: number;
}

interface Written {
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly at: number;
}

const mostPending = 1_000;
const maxKept = 4_096;
/** Repetitions within this time are counted on the existing Event. */
const mergeWithinMs = 10 * 60_000;
/** As in client-go: a burst about one object, then one Event in five minutes. */
const perObject = { burst: 25, perSecond: 1 / 300 };
const longestMessage = 1_000;
const tries = 3;
const writeTimeoutMs = 10_000;
const defaultFlushMs = 2_000;

/**
 * Records Events about objects for their users. Recording never waits and never fails; repetitions are
 * counted, and excess Events about one object are dropped.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #counter;
  /** By the identity of an Event; in the order of their first occurrence. */
  readonly #pending = new Map<string, Pending>();
  readonly #written = new Map<string, Written>();
  readonly #limits = new Map<string, RateLimit>();
  readonly #recorded = new WakeUp();
  #serial = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#counter = options.metrics.counter(eventsRecorded);
  }

  /** Records an Event about an object from the API. Returns false if it was dropped. */
  record<T extends KubeObject>(resource: Resource<T>, object: T, content: EventContent): boolean {
    const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
    return this.recordAbout(
      {
        apiVersion: apiVersionOf(resource),
        kind: resource.kind,
        ...(namespace === undefined ? {} : { namespace }),
        ...(name === undefined ? {} : { name }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      content,
    );
  }

  recordAbout(about: ObjectReference, content: EventContent): boolean {
    const object = [about.kind, about.namespace, about.name, about.uid].join('/');
    if (!this.#limitFor(object).tryTake()) {
      this.#count('dropped');
      return false;
    }
    const key = [object, content.reason, content.message].join('\n');
    const type = this.#options.eventType(content.reason);
    const now = this.#options.clock.wallTime();
    const waiting = this.#pending.get(key);
    if (waiting !== undefined) {
      waiting.count += 1;
      waiting.lastAt = now;
      this.#count('merged');
      return true;
    }
    if (this.#pending.size >= mostPending && !this.#makeRoom(type)) {
      this.#count('dropped');
      return false;
    }
    this.#pending.set(key, { about, content, type, firstAt: now, lastAt: now, count: 1 });
    this.#recorded.call();
    return true;
  }

  /** A Warning replaces a Normal Event. */
  #makeRoom(type: EventDefinition['type']): boolean {
    if (type !== 'Warning') return false;
    for (const [key, pending] of this.#pending) {
      if (pending.type === 'Warning') continue;
      this.#pending.delete(key);
      this.#count('dropped');
      return true;
    }
    return false;
  }

  /** Writes recorded Events until the signal aborts, and pending ones for `flushMs` afterwards. */
  async run(signal: AbortSignal, flushMs = defaultFlushMs): Promise<void> {
    while (!signal.aborted) {
      await this.#writeAll(signal);
      if (this.#pending.size === 0) await this.#recorded.next(signal);
    }
    const { clock } = this.#options;
    const last = new AbortController();
    const timer = clock.timer(flushMs, () => last.abort());
    await this.#writeAll(last.signal);
    timer.cancel();
  }

  async #writeAll(signal: AbortSignal): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      if (signal.aborted) return;
      const [key, pending] = next;
      this.#pending.delete(key);
      try {
        await this.#writeWithRetries(key, pending, signal);
      } catch (thrown) {
        if (signal.aborted) {
          this.#pending.set(key, pending);
          return;
        }
        const error = CausewayError.from(thrown);
        this.#count('failed');
        // Objects in a namespace that is being deleted need no more Events.
        const isLate = error instanceof KubeError && error.isOfTerminatingNamespace;
        const { about, content } = pending;
        this.#options.log[isLate ? 'debug' : 'warn'](
          { error, about, reason: content.reason },
          'an event was not written',
        );
      }
    }
  }

  /** Warnings first, and within a type the oldest. */
  #next(): [string, Pending] | undefined {
    let oldest: [string, Pending] | undefined;
    for (const entry of this.#pending) {
      if (entry[1].type === 'Warning') return entry;
      oldest ??= entry;
    }
    return oldest;
  }

  async #writeWithRetries(key: string, pending: Pending, signal: AbortSignal): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      try {
        await this.#write(key, pending, signal);
        return;
      } catch (error) {
        const isTransient = isErrorCode(error, 'unavailable') || isErrorCode(error, 'timeout');
        if (signal.aborted || !isTransient || failures >= tries) throw error;
        await sleep(this.#options.clock, 500 * failures, signal);
      }
    }
  }

  async #write(key: string, pending: Pending, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const known = this.#written.get(key);
    const options = { signal, timeoutMs: writeTimeoutMs };
    if (known !== undefined && clock.monotonic() - known.at < mergeWithinMs) {
      const count = known.count + pending.count;
      const patch = { count, lastTimestamp: seconds(pending.lastAt) };
      try {
        await client.patchMerge(events, known, patch, options);
        this.#keep(key, { ...known, count, at: clock.monotonic() });
        this.#count('merged');
        return;
      } catch (error) {
        // The Event has expired in the meantime; create a new one.
        if (!isErrorCode(error, 'not-found')) throw error;
      }
    }
    const event = this.#compose(pending);
    await client.create(events, event, options);
    const { namespace = '', name = '' } = event.metadata ?? {};
    this.#keep(key, { namespace, name, count: pending.count, at: clock.monotonic() });
    this.#count('written');
  }

  #compose({ about, content, type, firstAt, lastAt, count }: Pending): Event {
    const { component, instance, clock } = this.#options;
    this.#serial += 1;
    const unique = `${clock.wallTime().toString(16)}${this.#serial.toString(16).padStart(4, '0')}`;
    return {
      metadata: {
        // kubectl searches Events about cluster-scoped objects in this namespace.
        namespace: about.namespace ?? 'default',
        name: `${(about.name ?? 'unknown').slice(0, 220)}.${unique}`,
      },
      involvedObject: about,
      type,
      reason: content.reason,
      message: content.message.slice(0, longestMessage),
      count,
      firstTimestamp: seconds(firstAt),
      lastTimestamp: seconds(lastAt),
      source: { component, host: instance },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  /** Keeps the latest; the oldest are dropped first. */
  #keep(key: string, written: Written): void {
    this.#written.delete(key);
    this.#written.set(key, written);
    const [oldest] = this.#written.keys();
    if (this.#written.size > maxKept && oldest !== undefined) this.#written.delete(oldest);
  }

  #limitFor(object: string): RateLimit {
    let limit = this.#limits.get(object);
    if (limit === undefined) {
      if (this.#limits.size >= maxKept) this.#dropFullLimits();
      limit = new RateLimit(perObject, this.#options.clock);
      this.#limits.set(object, limit);
    }
    return limit;
  }

  #dropFullLimits(): void {
    for (const [object, limit] of this.#limits) if (limit.isFull) this.#limits.delete(object);
    if (this.#limits.size >= maxKept) this.#limits.clear();
  }

  #count(outcome: 'written' | 'merged' | 'dropped' | 'failed'): void {
    this.#counter.add({ outcome });
  }
}

function seconds(wallTime: number): string {
  return new Date(wallTime).toISOString().replace(/\.\d+Z$/, 'Z');
}
