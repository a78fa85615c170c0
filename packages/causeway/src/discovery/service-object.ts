import type { Service, ServicePort, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { annotations, originLabels, originMarks, type Origin } from './ownership.ts';
import type { Translation, WantedPort } from './translate.ts';

export type ServiceType = 'Headless' | 'ClusterIP';

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** The Service of a load balancer, with every field that the API server would fill in by itself. */
export function serviceObject(
  origin: Origin & { readonly address: string | undefined },
  { namespace, name }: Place,
  { ports, l7PoolIds }: Translation,
  type: ServiceType,
): Service {
  return {
    metadata: {
      namespace,
      name,
      labels: originLabels(origin),
      annotations: {
        ...originMarks(origin, { namespace, name }),
        [annotations.projectName]: origin.project.name.toWellFormed(),
        // Half a character would come back from the API server as another one.
        [annotations.loadBalancerName]: origin.loadBalancer.name.toWellFormed(),
        ...(origin.address === undefined
          ? {}
          : { [annotations.loadBalancerAddress]: origin.address }),
        [annotations.listeners]: listenersText(ports),
        ...(l7PoolIds.length === 0 ? {} : { [annotations.l7Pools]: l7PoolsText(l7PoolIds) }),
      },
    },
    spec: {
      type: 'ClusterIP',
      ...(type === 'Headless' ? { clusterIP: 'None' } : { ipFamilyPolicy: 'PreferDualStack' }),
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      // The API server leaves an empty list out, and we would find it missing in every cycle.
      ...(ports.length === 0 ? {} : { ports: ports.map(servicePort) }),
    },
  };
}

/** Kubernetes takes 256 KiB of annotations in all, and tenants choose how long names are. */
const longestAnnotation = 100 * 1024;

/** Every port is named, whatever else has to go: by that we know our ports again. */
function listenersText(ports: readonly WantedPort[]): string {
  const forms: readonly ((listener: WantedPort['listener']) => object)[] = [
    (listener) => listener,
    ({ id, name, protocol }) => ({ id, name: `${name.slice(0, 20).toWellFormed()}…`, protocol }),
    ({ id }) => ({ id }),
  ];
  const texts = forms.map(
    (form) => () =>
      JSON.stringify(Object.fromEntries(ports.map(({ name, listener }) => [name, form(listener)]))),
  );
  const fitting = texts.find((text) => Buffer.byteLength(text()) <= longestAnnotation);
  return (fitting ?? texts.at(-1))?.() ?? '';
}

function l7PoolsText(ids: readonly string[]): string {
  const most = 1000;
  return ids.length <= most ? ids.join(',') : `${ids.slice(0, most).join(',')},…`;
}

function servicePort({ name, protocol, port, appProtocol }: WantedPort): ServicePort {
  const spoken = appProtocol === undefined ? {} : { appProtocol };
  return { name, protocol, port, targetPort: port, ...spoken };
}

/**
 * The Service's fields as far as they are ours to decide. Addresses and families are the API server's,
 * but for whether there is an address at all, which can't be changed.
 */
export function ownSpec({ spec }: Service): ServiceSpec {
  const { clusterIP, clusterIPs: _, ipFamilies: _families, ipFamilyPolicy, ...rest } = spec ?? {};
  return clusterIP === 'None'
    ? { ...rest, clusterIP }
    : { ...rest, ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }) };
}

/** The Service with the ports that we have given it: it says itself which they are. */
export function withoutForeignPorts(service: Service): Service {
  const known = listenersOf(service);
  if (known === undefined) return service;
  const ports = (service.spec?.ports ?? []).filter(({ name = '' }) => Object.hasOwn(known, name));
  return { ...service, spec: { ...service.spec, ports } };
}

/** What the Service says of the listeners behind its ports. Undefined where that can't be read. */
export function listenersOf({ metadata }: Service): Readonly<Record<string, unknown>> | undefined {
  try {
    const listeners: unknown = JSON.parse(metadata?.annotations?.[annotations.listeners] ?? '');
    return typeof listeners === 'object' && listeners !== null ? { ...listeners } : undefined;
  } catch {
    return undefined;
  }
}

export function withListeners(
  service: Service,
  listeners: readonly (readonly [string, unknown])[],
): Service {
  const own = { [annotations.listeners]: JSON.stringify(Object.fromEntries(listeners)) };
  const { metadata } = service;
  return {
    ...service,
    metadata: { ...metadata, annotations: { ...metadata?.annotations, ...own } },
  };
}

export function isHeadless({ spec }: Service): boolean {
  return spec?.clusterIP === 'None';
}

/** The Service as it should be, over the one that is there. */
export function serviceUpdate(actual: Service, wanted: Service): ServiceSpec {
  const { clusterIP, clusterIPs, ipFamilies } = actual.spec ?? {};
  return {
    ...wanted.spec,
    ...(clusterIP === undefined || clusterIP === '' ? {} : { clusterIP }),
    ...(clusterIPs === undefined ? {} : { clusterIPs }),
    ...(ipFamilies === undefined ? {} : { ipFamilies }),
  };
}
