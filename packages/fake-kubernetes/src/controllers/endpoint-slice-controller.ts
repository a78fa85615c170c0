import { done, type Outcome } from '@causeway/base/work/controller';
import type { Endpoint } from '../resources/endpoint-slice.ts';
import { selects } from '../resources/label-selector.ts';
import type { Node } from '../resources/node.ts';
import type { Pod } from '../resources/pod/pod-type.ts';
import { isHeadless, type IpFamily, type Service } from '../resources/service/service-type.ts';
import { canonicalText } from '../schema/json.ts';
import type { Change } from '../store.ts';
import {
  addressOf,
  selectedPods,
  servedPorts,
  toEndpoint,
  type ServedPort,
} from './endpoint-model.ts';
import type { EndpointGroup } from './endpoint-slice-plan.ts';
import { slicesResource, SliceWriter } from './slice-writer.ts';
import {
  keyOf,
  ownKey,
  splitKey,
  type ControllerSetting,
  type StoreController,
} from './store-controller.ts';
import { TriggerTimes } from './trigger-times.ts';

const headlessLabel = 'service.kubernetes.io/headless';
const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';

/** Keeps the EndpointSlices of Services with a selector in sync with their pods. */
export function endpointSliceController(setting: ControllerSetting): StoreController {
  const writer = new SliceWriter(setting, 'endpointslice-controller.k8s.io');
  const slices = new Slices(setting, writer);
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
      [slicesResource]: (change) => writer.servicesOf(change),
    },
    reconcile: (key) => slices.reconcile(key),
  };
}

/** The Services that select a pod, or that selected it before its change. */
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

class Slices {
  readonly #setting: ControllerSetting;
  readonly #writer: SliceWriter;
  readonly #triggers = new TriggerTimes();

  constructor(setting: ControllerSetting, writer: SliceWriter) {
    this.#setting = setting;
    this.#writer = writer;
  }

  reconcile(key: string): Outcome {
    const { api } = this.#setting;
    const { namespace, name } = splitKey(key);
    const service = api.store.get('services', namespace, name) as Service | undefined;
    // The garbage collector deletes the EndpointSlices of a deleted Service.
    if (service === undefined) this.#triggers.forget(key);
    if (service === undefined || service.metadata.deletionTimestamp !== undefined) return done;
    const isServed = service.spec.type !== 'ExternalName' && service.spec.selector !== undefined;
    if (!isServed) return done;
    const pods = api.store.list('pods', namespace).map((pod) => pod as Pod);
    const selected = selectedPods(service, pods);
    const groups = groupEndpoints(service, selected, (nodeName) =>
      api.store.get('nodes', undefined, nodeName),
    );
    const trigger = this.#triggers.observe(service, selected);
    this.#writer.write({
      owner: service,
      groups,
      labels: {
        ...service.metadata.labels,
        ...(isHeadless(service.spec) ? { [headlessLabel]: '' } : {}),
      },
      annotate(had) {
        const { [triggerAnnotation]: _, ...rest } = had;
        return trigger === undefined ? rest : { ...rest, [triggerAnnotation]: trigger };
      },
    });
    return done;
  }
}

/** Groups endpoints by address family and served ports. Each family has a group, which can be empty. */
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
      // A pod on a deleted node is about to be deleted. Only Services with `publishNotReadyAddresses` still
      // include it.
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
