import { isExternallyAccessible, type Service } from './service-type.ts';

/** The server treats empty strings as absent. */
function dropEmptyTexts(fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === '') Reflect.deleteProperty(fields, name);
  }
}

const affinitySeconds = 10_800;

/** Sets the defaults of a Service before any allocation. */
export function defaultService(service: Service): void {
  service.spec ??= {};
  const { spec } = service;
  dropEmptyTexts(spec);
  for (const port of spec.ports ?? []) dropEmptyTexts(port);
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP') {
    const given = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: given ?? affinitySeconds } };
  }
  spec.type ??= 'ClusterIP';
  for (const port of spec.ports ?? []) {
    port.protocol ??= 'TCP';
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') {
      port.targetPort = port.port;
    }
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'ExternalName') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
  service.status ??= {};
  service.status.loadBalancer ??= {};
  if (spec.type !== 'LoadBalancer') return;
  for (const ingress of service.status.loadBalancer.ingress ?? []) {
    if (ingress.ip !== undefined) ingress.ipMode ??= 'VIP';
  }
}
