import { isDeepStrictEqual } from 'node:util';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { OwnWrites } from '@causeway/kubernetes/cache/own-writes';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { removeFinalizer } from '@causeway/kubernetes/objects/finalizers';
import { services } from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced, type Change } from '@causeway/kubernetes/cache/store';
import type { BackoffPolicy } from '@causeway/base/time/backoff';
import type { Clock } from '@causeway/base/time/clock';
import { runController, type Outcome, type ReconcileContext } from '@causeway/base/work/controller';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { systemRandom, type Random } from '@causeway/base/simulation/random';
import { supervise, type Loop } from '@causeway/base/work/supervisor';
import { WorkQueue } from '@causeway/base/work/work-queue';
import { matchingProvider, type Providers } from './plan.ts';
import { ownerKey } from './frontend-spec.ts';
import type { Owner, ProviderHost } from './provider.ts';
import { ServiceReconciler, type RecordEvent } from './reconcile-service.ts';

export interface ServiceControllerOptions {
  readonly client: KubeClient;
  readonly providers: Providers;
  readonly recordEvent: RecordEvent;
  /** The number of Services that are reconciled concurrently. */
  readonly workers: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly random?: Random;
}

/** The backoff for calls to cloud providers: 5 s, doubling, 5 min at most. */
const retryPace: BackoffPolicy = { baseMs: 5_000, maxMs: 300_000, jitter: 0.2 };
/** Creating a load balancer can take minutes, but a hung call must not block its worker forever. */
const deadlineMs = 300_000;

/** The controller of all Services: watches them, and makes their providers serve or release them. */
export class ServiceController {
  readonly #options: ServiceControllerOptions;
  readonly #store: Store<Service>;
  readonly #ownWrites: OwnWrites<Service>;
  readonly #reflector: Reflector<Service, Service>;
  readonly #queue: WorkQueue<string>;
  readonly #reconciler: ServiceReconciler;
  /** Services that wait for a retry after a failed reconcile. */
  readonly #failing = new Set<string>();

  constructor(options: ServiceControllerOptions) {
    const { client, clock, log, metrics, random = systemRandom } = options;
    this.#options = options;
    this.#store = new Store<Service>({ log });
    this.#ownWrites = new OwnWrites(this.#store);
    this.#reflector = new Reflector({
      client,
      resource: services,
      store: this.#store,
      projection: withSlimMetadata,
      clock,
      log,
      metrics,
      random,
    });
    this.#queue = new WorkQueue<string>({ clock, backoff: retryPace, random });
    this.#reconciler = new ServiceReconciler({
      client,
      clock,
      find: (key) => this.#store.get(key),
      ownWrites: this.#ownWrites,
      providers: options.providers,
      recordEvent: options.recordEvent,
    });
  }

  /** Undefined if ready, else the reason. */
  readiness(): string | undefined {
    const problems = [
      this.#reflector.readiness(),
      ...this.#options.providers.all.map((provider) => provider.readiness()),
    ].filter((problem) => problem !== undefined);
    return problems.length === 0 ? undefined : problems.join('; ');
  }

  async run(signal: AbortSignal): Promise<void> {
    const enqueue = (key: string) => this.#queue.add(key);
    const stopListening = this.#ownWrites.onForeignChange((change) => {
      // A status write about a failure, even one without an answer, must not shorten the delay after the
      // failure.
      if (this.#failing.has(change.key) && isAboutConditions(change)) return;
      enqueue(change.key);
    });
    const host = this.#host(enqueue);
    const providerLoops = this.#options.providers.all.map((provider): [string, Loop] => [
      `provider ${provider.name}`,
      (inner) => provider.run(host, inner),
    ]);
    try {
      await supervise(
        signal,
        {
          'services reflector': (inner) => this.#reflector.run(inner),
          'services controller': (inner) => this.#work(inner),
          ...Object.fromEntries(providerLoops),
        },
        this.#options.log,
      );
    } finally {
      stopListening();
    }
  }

  #host(enqueue: (key: string) => void): ProviderHost<Service> {
    const { client, providers, recordEvent } = this.#options;
    const find = (owner: Owner) => {
      const service = this.#store.get(ownerKey(owner));
      return service?.metadata?.uid === owner.uid ? service : undefined;
    };
    return {
      objects: this.#store,
      enqueue,
      providerOf: (owner) => {
        const service = find(owner);
        return service === undefined ? undefined : matchingProvider(service, providers)?.name;
      },
      recordEvent: (metadata, ...what) => recordEvent({ metadata }, ...what),
      removeFinalizer: async (owner, finalizer, signal) => {
        const service = find(owner);
        if (service === undefined) return;
        await removeFinalizer(client, services, service, finalizer, { signal });
      },
    };
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<Outcome> {
    try {
      const outcome = await this.#reconciler.reconcile(key, context);
      this.#failing.delete(key);
      return outcome;
    } catch (error) {
      this.#failing.add(key);
      throw error;
    }
  }

  /** Writes nothing before all stores have synced, so that a Service with an address keeps it. */
  async #work(signal: AbortSignal): Promise<void> {
    const { providers, workers, clock, log, metrics } = this.#options;
    await whenSynced([this.#store, ...providers.all], signal);
    for (const provider of providers.all) {
      for (const { namespace, name } of provider.owners()) this.#queue.add(`${namespace}/${name}`);
    }
    await runController(
      {
        name: 'services',
        queue: this.#queue,
        reconcile: (key, context) => this.#reconcile(key, context),
        workers,
        deadlineMs,
        clock,
        log,
        metrics,
      },
      signal,
    );
  }
}

/** Whether only the conditions in the status have changed. */
function isAboutConditions(change: Change<Service>): boolean {
  if (change.type !== 'updated') return false;
  const rest = ({ metadata, spec, status }: Service) => {
    const { resourceVersion: _, ...meta } = metadata ?? {};
    return [meta, spec, status?.loadBalancer];
  };
  return isDeepStrictEqual(rest(change.before), rest(change.after));
}
