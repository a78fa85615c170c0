import type { KubeObject } from '../../object.ts';

export type IpFamily = 'IPv4' | 'IPv6';

export interface ServicePort {
  name?: string;
  protocol?: string;
  appProtocol?: string;
  port: number;
  targetPort?: number | string;
  nodePort?: number;
}

export interface ServiceSpec {
  type?: string;
  selector?: Record<string, string>;
  ports?: ServicePort[];
  clusterIP?: string;
  clusterIPs?: string[];
  ipFamilies?: IpFamily[];
  ipFamilyPolicy?: string;
  externalIPs?: string[];
  externalName?: string;
  externalTrafficPolicy?: string;
  internalTrafficPolicy?: string;
  trafficDistribution?: string;
  sessionAffinity?: string;
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } };
  healthCheckNodePort?: number;
  publishNotReadyAddresses?: boolean;
  loadBalancerIP?: string;
  loadBalancerClass?: string;
  loadBalancerSourceRanges?: string[];
  allocateLoadBalancerNodePorts?: boolean;
}

export interface LoadBalancerIngress {
  ip?: string;
  hostname?: string;
  ipMode?: string;
}

export interface Service extends KubeObject {
  spec: ServiceSpec;
  status?: { loadBalancer?: { ingress?: LoadBalancerIngress[] }; conditions?: object[] };
}

export function needsClusterIp({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === 'None';
}

/** Whether the type uses node ports. A load balancer can opt out of them. */
export function opensNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

export function allocatesNodePorts(spec: ServiceSpec): boolean {
  if (spec.type === 'NodePort') return true;
  return spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts !== false;
}

export function needsHealthCheckPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

/** Whether traffic from outside of the cluster can reach the Service. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
  if (opensNodePorts(spec)) return true;
  return spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0;
}

/** The allocated node ports of a Service, including the health check node port. */
export function heldNodePorts(spec: ServiceSpec): number[] {
  const ports = (spec.ports ?? []).map(({ nodePort = 0 }) => nodePort);
  return [...ports, spec.healthCheckNodePort ?? 0].filter((port) => port !== 0);
}

export function heldClusterIps(spec: ServiceSpec): string[] {
  return isHeadless(spec) ? [] : (spec.clusterIPs ?? []).filter((ip) => ip !== '');
}
