import type { Service, ServicePort, ServiceSpec } from '../kube/core-objects.ts';
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
        [annotations.listeners]: JSON.stringify(
          Object.fromEntries(ports.map((port) => [port.name, port.listener])),
        ),
        ...(l7PoolIds.length === 0 ? {} : { [annotations.l7Pools]: l7PoolIds.join(',') }),
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
  const known = portNamesOf(service);
  if (known === undefined) return service;
  const ports = (service.spec?.ports ?? []).filter(({ name = '' }) => known.has(name));
  return { ...service, spec: { ...service.spec, ports } };
}

/** Undefined where that can't be read any more. */
function portNamesOf({ metadata }: Service): ReadonlySet<string> | undefined {
  try {
    const listeners: unknown = JSON.parse(metadata?.annotations?.[annotations.listeners] ?? '');
    return typeof listeners === 'object' && listeners !== null
      ? new Set(Object.keys(listeners))
      : undefined;
  } catch {
    return undefined;
  }
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
