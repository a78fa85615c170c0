import { done, type Outcome } from '@causeway/base/work/controller';
import type { Endpoints, EndpointsAddress, EndpointsSubset } from '../resources/endpoints.ts';
import { isPodReady, type Pod } from '../resources/pod/pod-type.ts';
import { isHeadless, type Service } from '../resources/service/service-type.ts';
import { canonicalText, jsonEqual } from '../schema/json.ts';
import { addressOf, selectedPods, servedPorts } from './endpoint-model.ts';
import { servicesOfPod } from './endpoint-slice-controller.ts';
import {
  ownKey,
  splitKey,
  type ControllerSetting,
  type StoreController,
} from './store-controller.ts';
import { TriggerTimes } from './trigger-times.ts';

const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const managerLabel = 'endpoints.kubernetes.io/managed-by';
const headlessLabel = 'service.kubernetes.io/headless';

/** Writes Endpoints, the older form: one object per Service, with its first address family only. */
export function endpointsController(setting: ControllerSetting): StoreController {
  const triggers = new TriggerTimes();
  return {
    name: 'endpoints',
    watches: { services: ownKey, endpoints: ownKey, pods: servicesOfPod(setting) },
    reconcile: (key) => reconcile(setting, triggers, key),
  };
}

function reconcile({ api }: ControllerSetting, triggers: TriggerTimes, key: string): Outcome {
  const { namespace, name } = splitKey(key);
  const service = api.store.get('services', namespace, name) as Service | undefined;
  const existing: Endpoints | undefined = api.store.get('endpoints', namespace, name);
  if (service === undefined) {
    triggers.forget(key);
    if (existing?.metadata.labels?.[managerLabel] !== undefined)
      api.delete('endpoints', namespace, name);
    return done;
  }
  if (service.spec.selector === undefined || service.spec.type === 'ExternalName') return done;
  const pods = api.store.list('pods', namespace).map((pod) => pod as Pod);
  const selected = selectedPods(service, pods);
  const subsets = endpointSubsets(service, selected);
  const trigger = triggers.observe(service, selected);
  const triggered = trigger === undefined ? {} : { [triggerAnnotation]: trigger };
  const labels = {
    ...service.metadata.labels,
    [managerLabel]: 'endpoint-controller',
    ...(isHeadless(service.spec) ? { [headlessLabel]: '' } : {}),
  };
  if (existing === undefined) {
    api.create('endpoints', {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace, labels, annotations: triggered },
      subsets,
    });
    return done;
  }
  const isSame =
    jsonEqual(existing.subsets ?? [], subsets) && jsonEqual(existing.metadata.labels ?? {}, labels);
  if (isSame) return done;
  const draft = structuredClone(existing);
  draft.subsets = subsets;
  draft.metadata.labels = labels;
  const { [triggerAnnotation]: _, ...annotations } = draft.metadata.annotations ?? {};
  draft.metadata.annotations = { ...annotations, ...triggered };
  api.update('endpoints', draft);
  return done;
}

/**
 * Pods that serve the same ports share a subset. Addresses are sorted, so that equal inputs give equal
 * subsets.
 */
export function endpointSubsets(service: Service, pods: readonly Pod[]): EndpointsSubset[] {
  const family = service.spec.ipFamilies?.[0] ?? 'IPv4';
  const showsAll = service.spec.publishNotReadyAddresses === true;
  const byPorts = new Map<string, Required<EndpointsSubset>>();
  for (const pod of pods) {
    const ip = addressOf(pod, family);
    const isLeaving = pod.metadata.deletionTimestamp !== undefined;
    if (ip === undefined || (isLeaving && !showsAll)) continue;
    const ports = servedPorts(service, pod).map(({ name, ...rest }) =>
      name === '' ? rest : { name, ...rest },
    );
    if (ports.length === 0 && !isHeadless(service.spec)) continue;
    const key = canonicalText(ports);
    const subset = byPorts.get(key) ?? { addresses: [], notReadyAddresses: [], ports };
    const list = showsAll || isPodReady(pod) ? subset.addresses : subset.notReadyAddresses;
    list.push(toAddress(service, pod, ip));
    byPorts.set(key, subset);
  }
  const byAddress = (left: EndpointsAddress, right: EndpointsAddress) =>
    left.ip < right.ip ? -1 : 1;
  return [...byPorts.entries()]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, { addresses, notReadyAddresses, ports }]) => ({
      ...(addresses.length === 0 ? {} : { addresses: addresses.sort(byAddress) }),
      ...(notReadyAddresses.length === 0
        ? {}
        : { notReadyAddresses: notReadyAddresses.sort(byAddress) }),
      ...(ports.length === 0 ? {} : { ports }),
    }));
}

function toAddress(service: Service, { metadata, spec }: Pod, ip: string): EndpointsAddress {
  const { hostname, subdomain, nodeName } = spec;
  const { name, namespace, uid } = metadata;
  return {
    ip,
    ...(hostname !== undefined && subdomain === service.metadata.name ? { hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: { kind: 'Pod', name, namespace: namespace ?? '', uid },
  };
}
