import { done, type Outcome } from '../../../runtime/controller.ts';
import type { Endpoint, EndpointSlice } from '../resources/endpoint-slice.ts';
import { selects } from '../resources/label-selector.ts';
import type { Node } from '../resources/node.ts';
import type { Pod } from '../resources/pod/pod-type.ts';
import { isHeadless, type IpFamily, type Service } from '../resources/service/service-type.ts';
import { canonicalText, jsonEqual } from '../schema/json.ts';
import type { Change } from '../store.ts';
import {
  addressOf,
  selectedPods,
  servedPorts,
  toEndpoint,
  type ServedPort,
} from './endpoint-model.ts';
import { planSlices, type EndpointGroup } from './endpoint-slice-plan.ts';
import {
  controllerReference,
  keyOf,
  ownKey,
  splitKey,
  type ControllerSetting,
  type StoreController,
} from './store-controller.ts';
import { TriggerTimes } from './trigger-times.ts';

const resource = 'endpointslices.discovery.k8s.io';
const serviceLabel = 'kubernetes.io/service-name';
const managerLabel = 'endpointslice.kubernetes.io/managed-by';
const manager = 'endpointslice-controller.k8s.io';
const headlessLabel = 'service.kubernetes.io/headless';
const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Keeps the EndpointSlices of Services with a selector in step with their pods. */
export function endpointSliceController(setting: ControllerSetting): StoreController {
  const slices = new Slices(setting);
  return {
    name: 'endpointslice',
    watches: {
      services: ownKey,
      pods: servicesOfPod(setting),
      *nodes({ type, object }) {
        if (type === 'MODIFIED') return;
        for (const pod of setting.api.store.list('pods')) {
          if ((pod as Pod).spec.nodeName !== object.metadata.name) continue;
          yield* servicesOfPod(setting)({ type: 'MODIFIED', version: 0, object: pod });
        }
      },
      [resource]: sliceService,
    },
    reconcile: (key) => slices.reconcile(key),
  };
}

/** The Services that select a pod, or did before it changed. */
export function servicesOfPod({ api }: ControllerSetting): (change: Change) => Iterable<string> {
  return function* keys({ object, previous }) {
    for (const service of api.store.list('services', object.metadata.namespace)) {
      const matchLabels = (service as Service).spec.selector;
      if (matchLabels === undefined) continue;
      const isConcerned = [object, previous].some(
        (pod) => pod !== undefined && selects({ matchLabels }, pod.metadata.labels),
      );
      if (isConcerned) yield keyOf(service);
    }
  };
}

function* sliceService({ object, previous }: Change): Iterable<string> {
  for (const one of [object, previous]) {
    const name = one?.metadata.labels?.[serviceLabel];
    if (name === undefined || one?.metadata.labels?.[managerLabel] !== manager) continue;
    yield `${one.metadata.namespace ?? ''}/${name}`;
  }
}

class Slices {
  readonly #setting: ControllerSetting;
  readonly #triggers = new TriggerTimes();

  constructor(setting: ControllerSetting) {
    this.#setting = setting;
  }

  reconcile(key: string): Outcome {
    const { api } = this.#setting;
    const { namespace, name } = splitKey(key);
    const service = api.store.get('services', namespace, name) as Service | undefined;
    // What belonged to a Service that is gone is left to the garbage collector.
    if (service === undefined) this.#triggers.forget(key);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return done;
    const isServed = service.spec.type !== 'ExternalName' && service.spec.selector !== undefined;
    if (!isServed) return done;
    const existing = api.store
      .list(resource, namespace)
      .map((slice) => slice as EndpointSlice)
      .filter(
        ({ metadata }) =>
          metadata.labels?.[serviceLabel] === name && metadata.labels[managerLabel] === manager,
      );
    const pods = api.store.list('pods', namespace).map((pod) => pod as Pod);
    const selected = selectedPods(service, pods);
    const groups = groupEndpoints(service, selected, (nodeName) =>
      api.store.get('nodes', undefined, nodeName),
    );
    const plan = planSlices(groups, existing);
    const trigger = this.#triggers.observe(service, selected);
    for (const group of plan.create) this.#create(service, group, trigger);
    for (const { slice, endpoints } of plan.update) {
      this.#update(service, slice, endpoints, trigger);
    }
    for (const { metadata } of plan.remove) api.delete(resource, namespace, metadata.name);
    const untouched = existing.filter(
      (slice) => !plan.remove.includes(slice) && !plan.update.some((one) => one.slice === slice),
    );
    for (const slice of untouched) this.#relabel(service, slice);
    return done;
  }

  #create(service: Service, group: EndpointGroup, trigger: string | undefined): void {
    const { addressType, ports, endpoints } = group;
    const { name, namespace } = service.metadata;
    this.#setting.api.create(resource, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        generateName: `${name}-`,
        ...(namespace === undefined ? {} : { namespace }),
        labels: sliceLabels(service),
        annotations: trigger === undefined ? {} : { [triggerAnnotation]: trigger },
        ownerReferences: [controllerReference(service)],
      },
      addressType,
      endpoints: [...endpoints],
      ports: endpoints.length === 0 ? [] : [...ports],
    });
  }

  #update(
    service: Service,
    slice: EndpointSlice,
    endpoints: readonly Endpoint[],
    trigger: string | undefined,
  ): void {
    const draft = structuredClone(slice);
    draft.endpoints = [...structuredClone(endpoints)];
    draft.metadata.labels = sliceLabels(service);
    const { [triggerAnnotation]: _, ...annotations } = draft.metadata.annotations ?? {};
    if (trigger !== undefined) annotations[triggerAnnotation] = trigger;
    draft.metadata.annotations = annotations;
    this.#setting.api.update(resource, draft);
  }

  #relabel(service: Service, slice: EndpointSlice): void {
    const labels = sliceLabels(service);
    if (jsonEqual(labels, slice.metadata.labels)) return;
    const draft = structuredClone(slice);
    draft.metadata.labels = labels;
    this.#setting.api.update(resource, draft);
  }
}

function sliceLabels(service: Service): Record<string, string> {
  return {
    ...service.metadata.labels,
    ...(isHeadless(service.spec) ? { [headlessLabel]: '' } : {}),
    [managerLabel]: manager,
    [serviceLabel]: service.metadata.name,
  };
}

/** Endpoints by family and by the ports they serve. Each family has a group, be it an empty one. */
function groupEndpoints(
  service: Service,
  pods: readonly Pod[],
  nodeNamed: (name: string) => unknown,
): EndpointGroup[] {
  const families: readonly IpFamily[] = service.spec.ipFamilies ?? ['IPv4'];
  return families.flatMap((family) => {
    const byPorts = new Map<string, { ports: ServedPort[]; endpoints: Endpoint[] }>();
    for (const pod of pods) {
      const address = addressOf(pod, family);
      if (address === undefined) continue;
      const node = nodeNamed(pod.spec.nodeName ?? '') as Node | undefined;
      // A pod whose node is gone is about to go too; only who asks for every pod still gets it.
      if (node === undefined && service.spec.publishNotReadyAddresses !== true) continue;
      const ports = servedPorts(service, pod);
      const key = canonicalText(ports);
      const group = byPorts.get(key) ?? { ports, endpoints: [] };
      group.endpoints.push(toEndpoint(service, pod, address, node));
      byPorts.set(key, group);
    }
    const groups = [...byPorts.values()].map((group) => ({ addressType: family, ...group }));
    return groups.length === 0 ? [{ addressType: family, ports: [], endpoints: [] }] : groups;
  });
}
