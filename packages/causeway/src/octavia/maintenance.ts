import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { installCustomResources } from '@causeway/kubernetes/objects/custom-resources';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import type { ClusterView } from '../services/cluster-view.ts';
import type { ProviderHost } from '../services/provider.ts';
import { kuryrLoadBalancerDefinition } from './definition.ts';
import { nodesKey } from './debounced-cluster.ts';
import type { Debounce } from './debounce.ts';
import type { Drift } from './drift.ts';
import type { KlbView } from './klb-view.ts';
import type { PendingChanges } from './pending-changes.ts';
import type { EnsureDeleted, OwnerlessObjects } from './ownerless-objects.ts';

export interface OctaviaMaintenanceOptions {
  readonly client: KubeClient;
  readonly view: KlbView;
  readonly cluster: ClusterView;
  readonly pendingChanges: PendingChanges;
  readonly drift: Drift;
  readonly ownerless: OwnerlessObjects;
  readonly clock: Clock;
  readonly log: Log;
  readonly driftEveryMs: number;
  readonly debounce: Debounce;
}

/** Background work beside the reconciles: watches, waits and drift checks. */
export class OctaviaMaintenance {
  readonly #options: OctaviaMaintenanceOptions;
  readonly #synced = Promise.withResolvers<void>();
  #problem: string | undefined = 'the load balancers have not been listed yet';

  constructor(options: OctaviaMaintenanceOptions) {
    this.#options = options;
  }

  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  readiness(): string | undefined {
    const { view, cluster } = this.#options;
    return view.readiness() ?? cluster.readiness() ?? this.#problem;
  }

  async run(host: ProviderHost, release: EnsureDeleted, signal: AbortSignal): Promise<void> {
    const { client, view, cluster, pendingChanges, clock } = this.#options;
    await installCustomResources(client, [kuryrLoadBalancerDefinition], {
      clock,
      signal,
      fieldManager: 'causeway-controller',
    });
    await supervise(signal, {
      'load balancers reflector': (inner) => view.run(inner),
      'cluster view': (inner) => cluster.run(inner),
      pendingChanges: (inner) =>
        pendingChanges.run((key) => this.#requestReconcile(key, host), inner),
      'drift and orphans': (inner) => this.#begin(host, release, inner),
    });
  }

  async #begin(host: ProviderHost, release: EnsureDeleted, signal: AbortSignal): Promise<void> {
    const { view, cluster, ownerless } = this.#options;
    await cluster.whenSynced(host.objects, signal);
    await view.synced;
    await this.#listUntilDone(signal);
    this.#problem = undefined;
    this.#synced.resolve();
    const stops = [
      cluster.onChange(
        (key) => this.#endpointsChanged(key, host),
        () => this.#nodesChanged(host),
      ),
      view.onChange(({ key }) => ownerless.consider(key)),
      view.onForeignChange(({ key }) => host.enqueue(key)),
      host.objects.onChange(({ key }) => ownerless.consider(key)),
    ];
    try {
      await supervise(signal, {
        drift: (inner) => this.#watchDrift(host, inner),
        ownerless: (inner) => ownerless.run(host, release, inner),
      });
    } finally {
      for (const stop of stops) stop();
      this.#options.debounce.stop();
    }
  }

  /**
   * The first endpoints apply immediately, because a new load balancer waits for them. Later ones are
   * debounced.
   */
  #endpointsChanged(key: string, host: ProviderHost): void {
    const { view, debounce } = this.#options;
    const isServed = view.get(key)?.status?.loadbalancer !== undefined;
    if (isServed) debounce.after(key, () => this.#requestReconcile(key, host));
    else this.#requestReconcile(key, host);
  }

  /** Nothing is written before the existing objects are known. */
  async #listUntilDone(signal: AbortSignal): Promise<void> {
    const { drift, clock, log } = this.#options;
    for (;;) {
      try {
        await drift.begin(signal);
        return;
      } catch (error) {
        const known = CausewayError.from(error);
        if (signal.aborted) throw known;
        this.#problem = `the list of load balancers failed: ${known.message}`;
        log.warn({ error: known }, 'the load balancers could not be listed; trying again');
        await sleep(clock, 5_000, signal);
      }
    }
  }

  async #watchDrift(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { drift, clock, log, driftEveryMs } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, driftEveryMs, signal);
      try {
        for (const key of await drift.check(signal)) host.enqueue(key);
      } catch (error) {
        const known = CausewayError.from(error);
        if (signal.aborted) throw known;
        log.warn({ error: known }, 'the drift check failed');
      }
    }
  }

  #requestReconcile(key: string, host: ProviderHost): void {
    host.enqueue(key);
    this.#options.ownerless.consider(key);
  }

  #nodesChanged(host: ProviderHost): void {
    const { view, debounce } = this.#options;
    debounce.after(nodesKey, () => {
      for (const klb of view.all()) {
        if (klb.spec?.options?.member_mode === 'NodePort') host.enqueue(keyOf(klb));
      }
    });
  }
}
