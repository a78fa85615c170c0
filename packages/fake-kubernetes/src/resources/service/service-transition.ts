import { jsonEqual } from '../../schema/json.ts';
import {
  allocatesNodePorts,
  isExternallyAccessible,
  needsClusterIp,
  needsHealthCheckPort,
  opensNodePorts,
  type Service,
  type ServiceSpec,
} from './service-type.ts';

/**
 * Carries over allocated fields on an update, and drops fields that the new type doesn't use, unless the
 * client changed them. This lets a client write the same manifest again or change only the type.
 */
export function carryOver(service: Service, old: Service): void {
  carryAllocations(service.spec, old.spec);
  syncClusterIps(service.spec, old.spec);
}

function carryAllocations(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined)
      spec.clusterIP = old.clusterIP;
    if ((spec.clusterIPs ?? []).length === 0 && old.clusterIPs !== undefined) {
      spec.clusterIPs = [...old.clusterIPs];
    }
  }
  if (allocatesNodePorts(old) && allocatesNodePorts(spec)) carryNodePorts(spec, old);
  if (needsHealthCheckPort(old) && needsHealthCheckPort(spec)) {
    const had = old.healthCheckNodePort;
    if ((spec.healthCheckNodePort ?? 0) === 0 && had !== undefined) spec.healthCheckNodePort = had;
  }
}

function carryNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const given = new Set((spec.ports ?? []).map(({ nodePort = 0 }) => nodePort));
  const byName = new Map((old.ports ?? []).map((port) => [port.name ?? '', port.nodePort ?? 0]));
  for (const port of spec.ports ?? []) {
    if ((port.nodePort ?? 0) !== 0) continue;
    const had = byName.get(port.name ?? '') ?? 0;
    if (had !== 0 && !given.has(had)) port.nodePort = had;
  }
}

/** `clusterIP` is the first of `clusterIPs`. Clients that know only the older field can change it. */
function syncClusterIps(spec: ServiceSpec, old: ServiceSpec): void {
  const hadAll = old.clusterIPs ?? [];
  const had = old.clusterIP ?? '';
  const given = spec.clusterIP ?? '';
  if (hadAll.length > 0 && (spec.clusterIPs ?? []).length === 0 && had === given) {
    spec.clusterIPs = [...hadAll];
  }
  if (had === given || !jsonEqual(spec.clusterIPs ?? [], hadAll)) return;
  if (given === '') delete spec.clusterIPs;
  else spec.clusterIPs = [given];
}

export function dropWhatTheTypeLacks(service: Service, old: Service): void {
  const { spec } = service;
  const had = old.spec;
  if (needsClusterIp(had) && !needsClusterIp(spec)) {
    if (isSame('clusterIP') && isSame('clusterIPs')) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    if (isSame('ipFamilies')) delete spec.ipFamilies;
    if (isSame('ipFamilyPolicy')) delete spec.ipFamilyPolicy;
  }
  if (opensNodePorts(had) && !opensNodePorts(spec)) dropNodePorts(spec, had);
  if (needsHealthCheckPort(had) && !needsHealthCheckPort(spec) && isSame('healthCheckNodePort')) {
    delete spec.healthCheckNodePort;
  }
  if (had.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (isSame('allocateLoadBalancerNodePorts')) delete spec.allocateLoadBalancerNodePorts;
    if (isSame('loadBalancerClass')) delete spec.loadBalancerClass;
  }
  if (isExternallyAccessible(had) && !isExternallyAccessible(spec)) {
    if (isSame('externalTrafficPolicy')) delete spec.externalTrafficPolicy;
  }
  if (had.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    service.status = { ...service.status, loadBalancer: {} };
  }

  function isSame(name: keyof ServiceSpec): boolean {
    return jsonEqual(spec[name], had[name]);
  }
}

function dropNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const had = new Set((old.ports ?? []).map(({ nodePort = 0 }) => nodePort));
  const isNew = (spec.ports ?? []).some(({ nodePort = 0 }) => nodePort !== 0 && !had.has(nodePort));
  if (isNew) return;
  for (const port of spec.ports ?? []) delete port.nodePort;
}
