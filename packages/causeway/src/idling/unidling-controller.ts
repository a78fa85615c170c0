import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Event, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EventContent } from '@causeway/kubernetes/events/event-recorder';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { slimMetadata, withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { events, services } from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import type { BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import { runController } from '@causeway/base/work/controller';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import { WorkQueue } from '@causeway/base/work/work-queue';
import { AutoIdler } from './auto-idler.ts';
import { Idler } from './idler.ts';
import { LegacyMarks } from './legacy-marks.ts';
import { sleeping } from './metric-definitions.ts';
import { needPodsKey, needPodsReason, requestTime } from './need-pods.ts';
import { ScaleDiscovery } from './scale-discovery.ts';
import type { IdlingSettings } from './settings.ts';
import { Waker } from './waker.ts';
import { WakeReconciler } from './wake-reconciler.ts';

export interface UnidlingControllerOptions {
  readonly client: KubeClient;
  readonly recordEvent: (service: Service, content: EventContent) => void;
  readonly settings: IdlingSettings;
  /** How many Services are woken concurrently. */
  readonly workers: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A client waits for each wake-up: retries are soon, and at least twice a minute. */
const retryPace: BackoffPolicy = { baseMs: 200, maxMs: 30_000, jitter: 0.2 };
const deadlineMs = 60_000;
const quietCheckMs = 15_000;
/** Nodes report twice a minute. A node counts as not reporting after three missed reports. */
const staleAfterMs = 100_000;

/** Wakes Services that NeedPods Events request. Events from before the start count too. */
export class UnidlingController {
  readonly #options: UnidlingControllerOptions;
  readonly #services: Store<Service>;
  readonly #events: Store<Event, 'service'>;
  /** When each Event last changed, in milliseconds since 1970. */
  readonly #eventsSeenAt = new Map<string, number>();
  readonly #reflectors;
  readonly #queue: WorkQueue<string>;
  readonly #reconciler: WakeReconciler;
  readonly #legacyMarks: LegacyMarks;
  readonly #autoIdler: AutoIdler;

  constructor(options: UnidlingControllerOptions) {
    const { client, clock, log, metrics } = options;
    this.#options = options;
    this.#services = new Store<Service>({ log });
    this.#events = new Store<Event, 'service'>({
      log,
      indexes: { service: (event) => [needPodsKey(event) ?? ''] },
    });
    const shared = { client, clock, log, metrics };
    this.#reflectors = {
      services: new Reflector({
        ...shared,
        resource: services,
        store: this.#services,
        projection: ({ metadata }) => ({ metadata: slimMetadata(metadata) }),
      }),
      events: new Reflector({
        ...shared,
        resource: events,
        store: this.#events,
        projection: withSlimMetadata<Event>,
        selection: { fieldSelector: `reason=${needPodsReason}` },
      }),
    };
    this.#queue = new WorkQueue<string>({ clock, backoff: retryPace });
    const discovery = new ScaleDiscovery(client);
    const waker = new Waker({ client, discovery });
    this.#autoIdler = new AutoIdler({
      ...options,
      idler: new Idler({ client, discovery, clock }),
      services: () => this.#services.values(),
      isWaking: (key) => this.#reconciler.isWaking(key),
      isAsleep: (service, signal) => waker.isAsleep(service, signal),
      namespace: options.settings.reportNamespace,
      everyMs: quietCheckMs,
      staleAfterMs,
    });
    this.#reconciler = new WakeReconciler({
      ...options,
      waker,
      find: (key) => this.#services.get(key),
      requestedAt: (key) => this.#requestedAt(key),
    });
    this.#legacyMarks = new LegacyMarks({
      ...options,
      waker,
      find: (key) => this.#services.get(key),
    });
  }

  /** Undefined when ready; otherwise the reason. */
  readiness(): string | undefined {
    const { services: ofServices, events: ofEvents } = this.#reflectors;
    return ofServices.readiness() ?? ofEvents.readiness();
  }

  async run(signal: AbortSignal): Promise<void> {
    const stops = [
      this.#services.onChange((change) => {
        this.#queue.add(change.key);
        if (change.type === 'deleted') this.#autoIdler.drop(change.key);
        else this.#autoIdler.note(change.after);
      }),
      this.#events.onChange((change) => {
        if (change.type === 'deleted') this.#eventsSeenAt.delete(change.key);
        else this.#eventsSeenAt.set(change.key, this.#options.clock.wallTime());
        const key = change.type === 'deleted' ? undefined : needPodsKey(change.after);
        if (key !== undefined) this.#queue.add(key);
      }),
    ];
    try {
      await supervise(signal, {
        services: (inner) => this.#reflectors.services.run(inner),
        events: (inner) => this.#reflectors.events.run(inner),
        controller: (inner) => this.#work(inner),
        ...(this.#options.settings.automatic ? { 'automatic idling': this.#idleQuiet } : {}),
        'legacy marks': async (inner) => {
          await whenSynced([this.#services], inner);
          await this.#legacyMarks.run(inner);
        },
      });
    } finally {
      for (const stop of stops) stop();
    }
  }

  readonly #idleQuiet = async (signal: AbortSignal): Promise<void> => {
    await whenSynced([this.#services], signal);
    await this.#autoIdler.run(signal);
  };

  async #work(signal: AbortSignal): Promise<void> {
    const { workers, clock, log, metrics } = this.#options;
    const gauge = metrics.gauge(sleeping);
    await whenSynced([this.#services, this.#events], signal);
    await runController(
      {
        name: 'unidling',
        queue: this.#queue,
        reconcile: async (key, context) => {
          const outcome = await this.#reconciler.reconcile(key, context);
          const { asleep, waking } = this.#reconciler.counts;
          gauge.set({ state: 'asleep' }, asleep);
          gauge.set({ state: 'waking' }, waking);
          return outcome;
        },
        workers,
        deadlineMs,
        clock,
        log,
        metrics,
      },
      signal,
    );
  }

  #requestedAt(key: string): number | undefined {
    const now = this.#options.clock.wallTime();
    const times = this.#events
      .byIndex('service', key)
      .map((event) => requestTime(event, this.#eventsSeenAt.get(keyOf(event)) ?? now));
    return times.length === 0 ? undefined : Math.max(...times);
  }
}
