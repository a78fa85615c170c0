import type { Service, ServicePort, ServiceSpec } from '@causeway/kubernetes/objects/core-objects';
import { annotations, originLabels, originMarks, type Origin } from './ownership.ts';
import type { Translation, WantedPort } from './translate.ts';

export type ServiceType = 'Headless' | 'ClusterIP';

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** The Service of a load balancer, with every field that the API server would default. */
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
        // The API server would replace half of a surrogate pair by another character.
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
      // The API server omits an empty list, so every cycle would find a difference.
      ...(ports.length === 0 ? {} : { ports: ports.map(servicePort) }),
    },
  };
}

/** Kubernetes accepts 256 KiB of annotations in total, and tenants choose the length of names. */
const longestAnnotation = 100 * 1024;

/** Every port is named, whatever else is cut: the names identify the discovered ports. */
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
 * The fields of the Service that discovery manages. The API server manages addresses and families, except
 * whether there is an address at all, which is immutable.
 */
export function ownSpec({ spec }: Service): ServiceSpec {
  const { clusterIP, clusterIPs: _, ipFamilies: _families, ipFamilyPolicy, ...rest } = spec ?? {};
  return clusterIP === 'None'
    ? { ...rest, clusterIP }
    : { ...rest, ...(ipFamilyPolicy === undefined ? {} : { ipFamilyPolicy }) };
}

/** The Service with its discovered ports only: an annotation lists them. */
export function withoutForeignPorts(service: Service): Service {
  const known = listenersOf(service);
  if (known === undefined) return service;
  const ports = (service.spec?.ports ?? []).filter(({ name = '' }) => Object.hasOwn(known, name));
  return { ...service, spec: { ...service.spec, ports } };
}

/** The annotation about the listeners behind the Service's ports. Undefined if it can't be read. */
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

/** The desired Service, merged with the actual one. */
export function serviceUpdate(actual: Service, wanted: Service): ServiceSpec {
  const { clusterIP, clusterIPs, ipFamilies } = actual.spec ?? {};
  return {
    ...wanted.spec,
    ...(clusterIP === undefined || clusterIP === '' ? {} : { clusterIP }),
    ...(clusterIPs === undefined ? {} : { clusterIPs }),
    ...(ipFamilies === undefined ? {} : { ipFamilies }),
  };
}
