import { isErrorCode, type CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Endpoints, Namespace, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { slimMetadata, type Projection } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import {
  endpoints,
  endpointSlices,
  namespaces,
  services,
} from '@causeway/kubernetes/objects/resources';
import { Store, whenSynced } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Loop } from '@causeway/base/work/supervisor';
import type { CurrentObjects } from './content.ts';
import type { Holdings } from './loss-guard.ts';
import { isCopy, labels, sourceOf, sourcesOf } from './ownership.ts';

export interface ClusterViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Index = 'backend' | 'owner';

/** Not a valid label value, so no project has it. */
const noProject = '?';

const selection = { labelSelector: labels.backend };

/** All discovered objects in the cluster, and its namespaces, as watched. */
export class ClusterView {
  readonly services: Store<Service, Index>;
  readonly namespaces: Store<Namespace>;
  readonly #slices: Store<EndpointSlice, Index>;
  readonly #endpoints: Store<Endpoints, Index>;
  readonly #reflectors;
  readonly #clock: Clock;
  #onFailure: ((error: CausewayError) => void) | undefined;

  constructor(options: ClusterViewOptions) {
    const { log } = options;
    this.#clock = options.clock;
    const onFailure = (error: CausewayError) => this.#onFailure?.(error);
    this.services = ownStore<Service>(log);
    this.#slices = ownStore<EndpointSlice>(log);
    this.#endpoints = ownStore<Endpoints>(log);
    this.namespaces = new Store<Namespace>({ log });
    const own = <T extends KubeObject>(resource: Resource<T>, store: Store<T, Index>) =>
      new Reflector({
        ...options,
        onFailure,
        resource,
        store,
        selection,
        projection: slimObject<T>,
      });
    this.#reflectors = {
      services: own(services, this.services),
      endpointslices: own(endpointSlices, this.#slices),
      endpoints: own(endpoints, this.#endpoints),
      namespaces: new Reflector({
        ...options,
        onFailure,
        resource: namespaces,
        store: this.namespaces,
        projection: slimNamespace,
      }),
    };
  }

  /** One loop for each watched kind. */
  loops(): Record<string, Loop> {
    return Object.fromEntries(
      Object.entries(this.#reflectors).map(([name, reflector]) => [
        name,
        (signal: AbortSignal) => reflector.run(signal),
      ]),
    );
  }

  whenSynced(signal: AbortSignal): Promise<void> {
    const stores = [this.services, this.#slices, this.#endpoints, this.namespaces];
    return whenSynced(stores, signal);
  }

  /** As `whenSynced`, but fails if access is refused, and with the last error when the time is over. */
  async whenSyncedWithin(limitMs: number, signal: AbortSignal): Promise<void> {
    const refused = new AbortController();
    let last: CausewayError | undefined;
    this.#onFailure = (error) => {
      last = error;
      if (isErrorCode(error, 'forbidden') || isErrorCode(error, 'unauthorized')) refused.abort();
    };
    const either = AbortSignal.any([signal, refused.signal]);
    try {
      await withDeadline(this.#clock, limitMs, either, 'reading the cluster', (inner) =>
        this.whenSynced(inner),
      );
    } catch (thrown) {
      throw signal.aborted ? thrown : (last ?? thrown);
    } finally {
      this.#onFailure = undefined;
    }
  }

  /** Stores an object that was just written, so that readers don't wait for the watch. */
  take(resource: Resource, object: KubeObject): void {
    const slim = slimObject(object);
    if (resource === services) this.services.put(slim);
    if (resource === endpointSlices) this.#slices.put(slim as EndpointSlice);
    if (resource === endpoints) this.#endpoints.put(slim);
  }

  readiness(): string | undefined {
    const all = Object.values(this.#reflectors).map((reflector) => reflector.readiness());
    return all.find((problem) => problem !== undefined);
  }

  /** The objects of a project, which is named as labels carry its id. */
  current(backend: string, projectId: string): CurrentObjects {
    const owner = `${backend}/${projectId}`;
    return {
      services: this.services.byIndex('owner', owner),
      slices: this.#slices.byIndex('owner', owner),
      endpoints: this.#endpoints.byIndex('owner', owner),
    };
  }

  /**
   * Objects with contradicting marks about their source: they belong to no project until a plan needs them.
   */
  edited(backend: string): CurrentObjects {
    return this.current(backend, noProject);
  }

  /** The projects with objects in a namespace, as labels carry their ids. */
  residents(backend: string): Map<string, Set<string>> {
    const found = new Map<string, Set<string>>();
    for (const store of [this.services, this.#slices, this.#endpoints]) {
      for (const object of store.byIndex('backend', backend)) {
        const namespace = object.metadata?.namespace ?? '';
        const projects = found.get(namespace) ?? new Set<string>();
        found.set(namespace, projects);
        for (const { projectId } of sourcesOf(object)) projects.add(projectId);
      }
    }
    return found;
  }

  /** The projects with objects in the cluster, as labels carry their ids. */
  projects(backend: string): Set<string> {
    return new Set([...this.residents(backend).values()].flatMap((ids) => [...ids]));
  }

  /** The totals over all load balancers of a backend. */
  holdings(backend: string): Holdings {
    return { ports: this.#portCount(backend), endpoints: this.#endpointCount(backend) };
  }

  #endpointCount(backend: string): number {
    let count = 0;
    for (const slice of this.#slices.byIndex('backend', backend)) {
      count += (slice.endpoints ?? []).length;
    }
    for (const { subsets } of this.#endpoints.byIndex('backend', backend)) {
      for (const { addresses = [], notReadyAddresses = [] } of subsets ?? []) {
        count += addresses.length + notReadyAddresses.length;
      }
    }
    return count;
  }

  #portCount(backend: string): number {
    const found = new Set<string>();
    for (const service of this.services.byIndex('backend', backend)) {
      const { loadBalancerId } = sourceOf(service) ?? { loadBalancerId: keyOf(service) };
      for (const { protocol = 'TCP', port } of service.spec?.ports ?? []) {
        found.add(`${loadBalancerId} ${protocol}/${port}`);
      }
    }
    return found.size;
  }
}

function ownStore<T extends KubeObject>(log: Log): Store<T, Index> {
  const backendOf = (object: T): string[] => {
    const backend = object.metadata?.labels?.[labels.backend] ?? '';
    return isCopy(backend, object) ? [] : [backend];
  };
  return new Store<T, Index>({
    log,
    indexes: {
      backend: backendOf,
      owner: (object) =>
        backendOf(object).map(
          (backend) => `${backend}/${sourceOf(object)?.projectId ?? noProject}`,
        ),
    },
  });
}

/** The fields that are compared or required in an update; the API server keeps the others. */
function slimObject<T extends KubeObject>(object: T): T {
  const slim = { ...(object as Record<string, unknown>) };
  for (const field of ['apiVersion', 'kind', 'status']) delete slim[field];
  const {
    creationTimestamp: _,
    generation: _generation,
    ...metadata
  } = slimMetadata(object.metadata);
  return { ...slim, metadata } as unknown as T;
}

const slimNamespace: Projection<Namespace, Namespace> = ({ metadata, status }) => {
  const { annotations: _, ...kept } = slimMetadata(metadata);
  return {
    metadata: kept,
    ...(status?.phase === undefined ? {} : { status: { phase: status.phase } }),
  };
};
