import type { KubeObject } from '../object.ts';
import type { EndpointSlice } from '../resources/endpoint-slice.ts';
import { jsonEqual } from '../schema/json.ts';
import type { Change } from '../store.ts';
import { planSlices, type EndpointGroup } from './endpoint-slice-plan.ts';
import { controllerReference, type ControllerSetting } from './store-controller.ts';

export const slicesResource = 'endpointslices.discovery.k8s.io';
const serviceLabel = 'kubernetes.io/service-name';
const managerLabel = 'endpointslice.kubernetes.io/managed-by';

export interface WantedSlices {
  /** Owner of the slices. It has the Service's name. */
  readonly owner: KubeObject;
  readonly groups: readonly EndpointGroup[];
  readonly labels: Readonly<Record<string, string>>;
  /** Returns the annotations of a slice that is written. Other slices keep their annotations. */
  annotate(had: Readonly<Record<string, string>>): Record<string, string>;
}

/** Writes only the slices of one manager. */
export class SliceWriter {
  readonly #setting: ControllerSetting;
  readonly #manager: string;

  constructor(setting: ControllerSetting, manager: string) {
    this.#setting = setting;
    this.#manager = manager;
  }

  /** The key of the Service of a slice, for slices of this manager. */
  *servicesOf({ object, previous }: Change): Iterable<string> {
    for (const one of [object, previous]) {
      const name = one?.metadata.labels?.[serviceLabel];
      if (name === undefined || one?.metadata.labels?.[managerLabel] !== this.#manager) continue;
      yield `${one.metadata.namespace ?? ''}/${name}`;
    }
  }

  existing(namespace: string, service: string): EndpointSlice[] {
    return this.#setting.api.store
      .list(slicesResource, namespace)
      .map((slice) => slice as EndpointSlice)
      .filter(
        ({ metadata }) =>
          metadata.labels?.[serviceLabel] === service &&
          metadata.labels[managerLabel] === this.#manager,
      );
  }

  write(wanted: WantedSlices): void {
    const { api } = this.#setting;
    const { name, namespace = '' } = wanted.owner.metadata;
    const labels = { ...wanted.labels, [managerLabel]: this.#manager, [serviceLabel]: name };
    const existing = this.existing(namespace, name);
    const plan = planSlices(wanted.groups, existing);
    for (const group of plan.create) this.#create(wanted, group, labels);
    for (const { slice, endpoints } of plan.update) {
      const draft = structuredClone(slice);
      draft.endpoints = [...structuredClone(endpoints)];
      draft.metadata.labels = labels;
      draft.metadata.annotations = wanted.annotate(draft.metadata.annotations ?? {});
      api.update(slicesResource, draft);
    }
    for (const { metadata } of plan.remove) api.delete(slicesResource, namespace, metadata.name);
    for (const slice of existing) {
      const isDone = plan.remove.includes(slice) || plan.update.some((one) => one.slice === slice);
      if (isDone || jsonEqual(labels, slice.metadata.labels)) continue;
      const draft = structuredClone(slice);
      draft.metadata.labels = labels;
      api.update(slicesResource, draft);
    }
  }

  #create(
    wanted: WantedSlices,
    { addressType, ports, endpoints }: EndpointGroup,
    labels: Record<string, string>,
  ): void {
    const { owner } = wanted;
    const { name, namespace } = owner.metadata;
    this.#setting.api.create(slicesResource, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${name}-`,
        ...(namespace === undefined ? {} : { namespace }),
        labels,
        annotations: wanted.annotate({}),
        ownerReferences: [controllerReference(owner)],
      },
      addressType,
      endpoints: [...endpoints],
      ports: endpoints.length === 0 ? [] : [...ports],
    });
  }
}
