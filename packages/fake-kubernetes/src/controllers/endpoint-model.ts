import { selects } from '../resources/label-selector.ts';
import type { Endpoint } from '../resources/endpoint-slice.ts';
import type { Node } from '../resources/node.ts';
import { isPodFinished, isPodReady, type Pod } from '../resources/pod/pod-type.ts';
import { ipFamilyOf } from '../resources/service/service-families.ts';
import type { IpFamily, Service, ServicePort } from '../resources/service/service-type.ts';

/** A port as one pod serves it. A named target port can have different numbers in different pods. */
export interface ServedPort {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

export function selectedPods(service: Service, pods: readonly Pod[]): Pod[] {
  const matchLabels = service.spec.selector ?? {};
  return pods.filter(
    (pod) =>
      pod.metadata.namespace === service.metadata.namespace &&
      selects({ matchLabels }, pod.metadata.labels) &&
      !isPodFinished(pod) &&
      (pod.status?.podIPs ?? []).length > 0,
  );
}

export function addressOf(pod: Pod, family: IpFamily): string | undefined {
  return (pod.status?.podIPs ?? []).map(({ ip }) => ip).find((ip) => ipFamilyOf(ip) === family);
}

/** The Service's ports as the pod serves them. A named port that the pod doesn't define is left out. */
export function servedPorts(service: Service, pod: Pod): ServedPort[] {
  return (service.spec.ports ?? []).flatMap((port) => {
    const number = targetNumber(port, pod);
    if (number === undefined) return [];
    const { name = '', protocol = 'TCP', appProtocol } = port;
    return [
      { name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) },
    ];
  });
}

function targetNumber(
  { targetPort, port, protocol = 'TCP' }: ServicePort,
  pod: Pod,
): number | undefined {
  if (typeof targetPort === 'number') return targetPort === 0 ? port : targetPort;
  if (targetPort === undefined || targetPort === '') return port;
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  return containers
    .flatMap(({ ports = [] }) => ports)
    .find((one) => one.name === targetPort && (one.protocol ?? 'TCP') === protocol)?.containerPort;
}

export function toEndpoint(
  service: Service,
  pod: Pod,
  address: string,
  node: Node | undefined,
): Endpoint {
  const serving = isPodReady(pod);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const ready = service.spec.publishNotReadyAddresses === true || (serving && !terminating);
  const { nodeName, hostname, subdomain } = pod.spec;
  const zone = node?.metadata.labels?.['topology.kubernetes.io/zone'];
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname !== undefined && subdomain === service.metadata.name ? { hostname } : {}),
    ...(nodeName === undefined ? {} : { nodeName }),
    targetRef: {
      kind: 'Pod',
      name: pod.metadata.name,
      namespace: pod.metadata.namespace ?? '',
      uid: pod.metadata.uid,
    },
    ...(zone === undefined ? {} : { zone }),
  };
}
