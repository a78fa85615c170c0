import type { KubeClient } from '@causeway/kubernetes/client/client';
import type { Event, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { endpointSlices, events, services } from '@causeway/kubernetes/objects/resources';
import { Store } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { supervise } from '@causeway/base/work/supervisor';
import type { RowStore } from './row-store.ts';
import { eventRow } from './event-row.ts';
import { isLate } from '../../health/gateway-health.ts';
import type { ClusterHealth } from '../../health/service-health.ts';
import type { EventRow } from './rows.ts';
import { addSlices, countSlice, type SliceCount } from './service-facts.ts';
import { describeService, healthOf, serviceRow, type DescribedService } from './service-row.ts';

export interface ClusterSourceOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly rowStore: RowStore;
}

/** The kept part of an object: its identity and the fields for the rows. */
interface Kept<T> extends KubeObject {
  readonly kept: T;
}

interface KeptSlice extends SliceCount {
  readonly service: string;
}

const serviceLabel = 'kubernetes.io/service-name';
/** The oldest are dropped: the API server keeps Events for an hour, and a busy cluster has many. */
const mostEvents = 500;

/** Services, their endpoints and the Events about them, as rows. */
export class ClusterSource {
  readonly #options: ClusterSourceOptions;
  readonly #services: Store<Kept<DescribedService>>;
  readonly #slices: Store<Kept<KeptSlice>, 'service'>;
  readonly #events: Store<Kept<EventRow>>;
  /** Undefined until the shared facts are known. No Service is shown before. */
  #cluster: ClusterHealth | undefined;
  #digest = '';

  constructor(options: ClusterSourceOptions) {
    const { log } = options;
    this.#options = options;
    this.#services = new Store({ log });
    this.#slices = new Store({ log, indexes: { service: ({ kept }) => [kept.service] } });
    this.#events = new Store({ log });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, log, metrics, rowStore } = this.#options;
    const common = { client, clock, log, metrics };
    this.#services.onChange(({ key }) => this.#showService(key));
    this.#slices.onChange((change) => {
      const slice = change.type === 'deleted' ? change.before : change.after;
      this.#showService(slice.kept.service);
    });
    this.#events.onChange((change) => {
      if (change.type === 'deleted') rowStore.remove('event', change.key);
      else this.#showEvent(change.after.kept);
    });
    const serviceReflector = new Reflector({
      ...common,
      resource: services,
      store: this.#services,
      projection: (service: Service) => keep(service, describeService(service)),
    });
    const sliceReflector = new Reflector({
      ...common,
      resource: endpointSlices,
      store: this.#slices,
      projection: (slice: EndpointSlice) =>
        keep(slice, { ...countSlice(slice), service: serviceOf(slice) }),
    });
    const eventReflector = new Reflector({
      ...common,
      resource: events,
      store: this.#events,
      selection: { fieldSelector: 'involvedObject.kind=Service' },
      projection: (event: Event) => keep(event, eventRow(event)),
    });
    await supervise(signal, {
      services: (inner) => serviceReflector.run(inner),
      'endpoint slices': (inner) => sliceReflector.run(inner),
      events: (inner) => eventReflector.run(inner),
    });
  }

  /** Takes the part of the health that all Services share. A change of it concerns all rows. */
  assess(cluster: ClusterHealth): void {
    const isFirst = this.#cluster === undefined;
    this.#cluster = cluster;
    const digest = digestOf(cluster);
    if (!isFirst && digest === this.#digest) return;
    this.#digest = digest;
    for (const { kept } of this.#services.values()) this.#showService(kept.fixed.key);
  }

  #showService(key: string): void {
    const { rowStore } = this.#options;
    const service = this.#services.get(key);
    if (service === undefined) {
      rowStore.remove('service', key);
      return;
    }
    if (this.#cluster === undefined) return;
    const slices = this.#slices.byIndex('service', key).map(({ kept }) => kept);
    const endpoints = addSlices(slices);
    const health = healthOf(service.kept, endpoints, this.#cluster);
    rowStore.set('service', serviceRow(service.kept, endpoints, health));
  }

  #showEvent(row: EventRow): void {
    const { rowStore } = this.#options;
    rowStore.set('event', row);
    const shown = [...rowStore.rows('event')];
    if (shown.length <= mostEvents) return;
    const oldest = shown.reduce((left, right) => (left.at <= right.at ? left : right));
    rowStore.remove('event', oldest.key);
  }
}

/** Everything in the shared health that decides on the row of a Service. */
function digestOf({ controller, paths, facts }: ClusterHealth): string {
  const late = facts.gateways?.map(({ rejected, unconfirmed }) => [
    [...rejected.listed],
    unconfirmed.total,
    [...unconfirmed.listed].filter(([, { since }]) => isLate(since, facts.now)),
  ]);
  const shared = [controller, paths === undefined ? [] : [...paths], late];
  return JSON.stringify([...shared, [...facts.unhealthy.listed]]);
}

function keep<T>(object: KubeObject, kept: T): Kept<T> {
  const { name, namespace, uid, resourceVersion } = object.metadata ?? {};
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    kept,
  };
}

function serviceOf(slice: EndpointSlice): string {
  const name = slice.metadata?.labels?.[serviceLabel] ?? '';
  const namespace = slice.metadata?.namespace;
  return keyOf({ metadata: { name, ...(namespace === undefined ? {} : { namespace }) } });
}
