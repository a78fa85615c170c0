import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { installCustomResources } from '@causeway/kubernetes/objects/custom-resources';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import { supervise } from '@causeway/base/work/supervisor';
import type { ProviderHost } from '../services/provider.ts';
import { kuryrLoadBalancerDefinition } from './definition.ts';
import type { Drift } from './drift.ts';
import type { OwnerlessObjects } from './ownerless-objects.ts';
import type { PendingChanges } from './pending-changes.ts';
import type { ReconcileReasons } from './reconcile-reasons.ts';
import type { OctaviaState } from './state.ts';

export interface OctaviaMaintenanceOptions extends Pick<OctaviaState, 'klbs' | 'cluster'> {
  readonly client: KubeClient;
  readonly reasons: ReconcileReasons;
  readonly pendingChanges: PendingChanges;
  readonly drift: Drift;
  readonly ownerless: OwnerlessObjects;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs what adds reasons to reconcile: watches, waits for changes of load balancers, and drift checks. */
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
    const { klbs, cluster } = this.#options;
    return klbs.readiness() ?? cluster.readiness() ?? this.#problem;
  }

  async run(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { client, klbs, cluster, reasons, pendingChanges, ownerless, clock } = this.#options;
    await installCustomResources(client, [kuryrLoadBalancerDefinition], {
      clock,
      signal,
      fieldManager: 'causeway-controller',
    });
    const disconnect = reasons.connect((key) => {
      host.enqueue(key);
      ownerless.consider(key);
    });
    try {
      await supervise(signal, {
        'load balancers reflector': (inner) => klbs.run(inner),
        'cluster view': (inner) => cluster.run(inner),
        pendingChanges: (inner) => pendingChanges.run(inner),
        'drift and orphans': (inner) => this.#begin(host, inner),
      });
    } finally {
      disconnect();
    }
  }

  async #begin(host: ProviderHost, signal: AbortSignal): Promise<void> {
    const { klbs, cluster, drift, ownerless } = this.#options;
    await cluster.whenSynced(host.objects, signal);
    await klbs.synced;
    await this.#listUntilDone(signal);
    this.#problem = undefined;
    this.#synced.resolve();
    const stop = this.#followChanges();
    try {
      await supervise(signal, {
        drift: (inner) => drift.run(inner),
        ownerless: (inner) => ownerless.run(host, inner),
      });
    } finally {
      stop();
    }
  }

  #followChanges(): () => void {
    const { klbs, cluster, reasons } = this.#options;
    const stops = [
      cluster.onChange({
        isServed: (key) => klbs.get(key)?.status?.loadbalancer !== undefined,
        endpointsChanged: (key) => reasons.add(key, 'its endpoints changed'),
        nodesChanged: () => {
          for (const klb of klbs.all()) {
            const isConcerned = klb.spec?.options?.member_mode === 'NodePort';
            if (isConcerned) reasons.add(keyOf(klb), 'the nodes changed');
          }
        },
      }),
      klbs.onForeignChange(({ key }) => reasons.add(key, 'its KuryrLoadBalancer changed')),
    ];
    return () => {
      for (const stop of stops) stop();
    };
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
}
