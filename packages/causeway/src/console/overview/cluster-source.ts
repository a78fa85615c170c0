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
import type { EventRow, ServiceRow } from './rows.ts';
import { addSlices, countSlice, serviceRow, type SliceCount } from './service-row.ts';

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
const none = { ready: 0, all: 0 };
/** The oldest are dropped: the API server keeps Events for an hour, and a busy cluster has many. */
const mostEvents = 500;

/** Services, their endpoints and the Events about them, as rows. */
export class ClusterSource {
  readonly #options: ClusterSourceOptions;
  readonly #services: Store<Kept<ServiceRow>>;
  readonly #slices: Store<Kept<KeptSlice>, 'service'>;
  readonly #events: Store<Kept<EventRow>>;

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
      projection: (service: Service) => keep(service, serviceRow(service, none)),
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

  #showService(key: string): void {
    const { rowStore } = this.#options;
    const service = this.#services.get(key);
    if (service === undefined) {
      rowStore.remove('service', key);
      return;
    }
    const slices = this.#slices.byIndex('service', key).map(({ kept }) => kept);
    rowStore.set('service', { ...service.kept, endpoints: addSlices(slices) });
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
