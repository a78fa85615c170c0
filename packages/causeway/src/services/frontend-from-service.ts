import type { Service, ServicePort } from '@causeway/kubernetes/objects/core-objects';
import type { FrontendPort, FrontendSpec } from './frontend-spec.ts';
import type { Owner } from './provider.ts';

/** What a Service asks of a provider. */
export function frontendFromService(service: Service): FrontendSpec {
  const { metadata = {}, spec = {}, status } = service;
  const owner = ownerOf(service);
  const { clusterIP = '', clusterIPs = [clusterIP] } = spec;
  const clusterAddresses = clusterIPs.filter((text) => text !== '' && text !== 'None');
  return {
    owner: { kind: 'Service', ...owner },
    createdAt: metadata.creationTimestamp ?? '',
    isDeleted: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    exposure: exposureOf(spec.type),
    className: spec.loadBalancerClass,
    families: (spec.ipFamilies ?? ['IPv4']).map((family) => (family === 'IPv6' ? 6 : 4)),
    familyPolicy: familyPolicyOf(spec.ipFamilyPolicy),
    requestedAddress: spec.loadBalancerIP,
    ports: (spec.ports ?? []).map(portOf),
    backends: {
      service: `${owner.namespace}/${owner.name}`,
      includesNotReady: spec.publishNotReadyAddresses === true,
      clusterAddresses,
      trafficPolicy: spec.externalTrafficPolicy ?? 'Cluster',
      healthCheckNodePort: spec.healthCheckNodePort,
    },
    policy: {
      sourceRanges: spec.loadBalancerSourceRanges ?? [],
      affinity: spec.sessionAffinity === 'ClientIP' ? 'client' : 'none',
      affinityTimeoutSeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds,
    },
    externalIps: spec.externalIPs ?? [],
    published: (status?.loadBalancer?.ingress ?? []).map(
      ({ ip, hostname }) => ip ?? hostname ?? '',
    ),
  };
}

export function ownerOf({ metadata }: Service): Owner {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  return { namespace, name, uid };
}

function exposureOf(type: NonNullable<Service['spec']>['type']): FrontendSpec['exposure'] {
  switch (type) {
    case 'LoadBalancer':
      return 'external';
    case 'ClusterIP':
    case undefined:
      return 'cluster';
    case 'NodePort':
    case 'ExternalName':
      return 'none';
  }
}

function familyPolicyOf(
  policy: NonNullable<Service['spec']>['ipFamilyPolicy'],
): FrontendSpec['familyPolicy'] {
  switch (policy) {
    case 'SingleStack':
    case undefined:
      return 'single';
    case 'PreferDualStack':
      return 'prefer-both';
    case 'RequireDualStack':
      return 'require-both';
  }
}

function portOf({ name = '', protocol = 'TCP', port, ...rest }: ServicePort): FrontendPort {
  const { targetPort = port, nodePort } = rest;
  // The API server shows a node port that is not allocated as 0 or leaves it out.
  return {
    name,
    protocol,
    port,
    target: targetPort,
    nodePort: nodePort === 0 ? undefined : nodePort,
  };
}
