import { done, type Outcome } from '@causeway/base/work/controller';
import type { Endpoint } from '../resources/endpoint-slice.ts';
import type { Endpoints, EndpointsAddress, EndpointsSubset } from '../resources/endpoints.ts';
import { ipFamilyOf } from '../resources/service/service-families.ts';
import type { Service } from '../resources/service/service-type.ts';
import type { EndpointGroup } from './endpoint-slice-plan.ts';
import { slicesResource, SliceWriter } from './slice-writer.ts';
import {
  ownKey,
  splitKey,
  type ControllerSetting,
  type StoreController,
} from './store-controller.ts';

const skipLabel = 'endpointslice.kubernetes.io/skip-mirror';
const managedLabel = 'endpoints.kubernetes.io/managed-by';
const triggerAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
const appliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** Mirrors manually created Endpoints of Services without a selector to EndpointSlices. */
export function endpointSliceMirroring(setting: ControllerSetting): StoreController {
  const writer = new SliceWriter(setting, 'endpointslicemirroring-controller.k8s.io');
  return {
    name: 'endpointslicemirroring',
    watches: {
      services: ownKey,
      endpoints: ownKey,
      [slicesResource]: (change) => writer.servicesOf(change),
    },
    reconcile: (key) => mirror(setting, writer, key),
  };
}

function mirror({ api }: ControllerSetting, writer: SliceWriter, key: string): Outcome {
  const { namespace, name } = splitKey(key);
  const service = api.store.get('services', namespace, name) as Service | undefined;
  const endpoints: Endpoints | undefined = api.store.get('endpoints', namespace, name);
  const isMirrored =
    service !== undefined &&
    service.spec.selector === undefined &&
    endpoints !== undefined &&
    endpoints.metadata.labels?.[skipLabel] !== 'true';
  if (!isMirrored) {
    for (const { metadata } of writer.existing(namespace, name)) {
      api.delete(slicesResource, namespace, metadata.name);
    }
    return done;
  }
  const { [managedLabel]: _, ...labels } = endpoints.metadata.labels ?? {};
  writer.write({
    owner: endpoints,
    groups: (endpoints.subsets ?? []).flatMap(groupsOf),
    labels,
    annotate() {
      const annotations = { ...endpoints.metadata.annotations };
      delete annotations[triggerAnnotation];
      delete annotations[appliedAnnotation];
      return annotations;
    },
  });
  return done;
}

/** A subset can contain both families; a slice contains one. */
function groupsOf({
  addresses = [],
  notReadyAddresses = [],
  ports = [],
}: EndpointsSubset): EndpointGroup[] {
  const endpoints = [
    ...addresses.map((address) => toEndpoint(address, true)),
    ...notReadyAddresses.map((address) => toEndpoint(address, false)),
  ];
  const shown = ports.map(({ name = '', port, protocol = 'TCP', appProtocol }) => ({
    name,
    port,
    protocol,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }));
  return (['IPv4', 'IPv6'] as const).flatMap((addressType) => {
    const members = endpoints.filter(({ addresses: [ip = ''] }) => ipFamilyOf(ip) === addressType);
    return members.length === 0 ? [] : [{ addressType, ports: shown, endpoints: members }];
  });
}

function toEndpoint(
  { ip, hostname, nodeName, targetRef }: EndpointsAddress,
  ready: boolean,
): Endpoint {
  return {
    addresses: [ip],
    conditions: { ready },
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(targetRef === undefined ? {} : { targetRef }),
  };
}
