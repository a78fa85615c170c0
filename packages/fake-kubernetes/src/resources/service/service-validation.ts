import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../schema/field-error.ts';
import { dnsLabelErrors, subdomainErrors } from '../../schema/names.ts';
import {
  validateAddress,
  validateEndpointAddress,
  validateOneOf,
  validatePortNumber,
  validatePortNumberOrName,
  validatePrefix,
  validateProtocol,
  validateQualifiedName,
} from '../field-rules.ts';
import { validateLabels } from '../label-selector.ts';
import { validateClusterIps } from './service-families.ts';
import {
  isExternallyAccessible,
  isHeadless,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './service-type.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const longestAffinity = 86_400;

export function validateService(service: Service): FieldError[] {
  const { spec } = service;
  return [
    ...validateShape(spec),
    ...validatePorts(spec),
    ...validateLabels(spec.selector, 'spec.selector'),
    ...validateAffinity(spec),
    ...validateClusterIps(spec),
    ...(spec.externalIPs ?? []).flatMap((text, index) => {
      const path = `spec.externalIPs[${index}]`;
      const wrong = validateAddress(text, path);
      return wrong.length > 0 ? wrong : validateEndpointAddress(text, path);
    }),
    ...validateOneOf(spec.type, types, 'spec.type'),
    ...validateNodePorts(spec),
    ...validateRepeatedPorts(spec),
    ...validateLoadBalancerFields(spec),
    ...validateTrafficPolicies(spec),
  ];
}

/** Validates the fields that a type requires or forbids. */
function validateShape(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const headless = isHeadless(spec);
  if ((spec.ports ?? []).length === 0 && !headless && spec.type !== 'ExternalName') {
    errors.push(required('spec.ports'));
  }
  if (headless && (spec.type === 'LoadBalancer' || spec.type === 'NodePort')) {
    const detail = `may not be set to 'None' for ${spec.type} services`;
    errors.push(invalid('spec.clusterIPs[0]', 'None', detail));
  }
  if (spec.type !== 'ExternalName') return errors;
  const detail = 'may not be set for ExternalName services';
  if ((spec.clusterIPs ?? []).length > 0) errors.push(forbidden('spec.clusterIPs', detail));
  if ((spec.ipFamilies ?? []).length > 0) errors.push(forbidden('spec.ipFamilies', detail));
  if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden('spec.ipFamilyPolicy', detail));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  if (name === '') errors.push(required('spec.externalName'));
  else errors.push(...subdomainErrors(name).map((why) => invalid('spec.externalName', name, why)));
  return errors;
}

function validatePorts({ ports = [] }: ServiceSpec): FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const path = `spec.ports[${index}]`;
    const errors: FieldError[] = [];
    const name = port.name ?? '';
    if (name === '') {
      if (ports.length > 1) errors.push(required(`${path}.name`));
    } else {
      errors.push(...dnsLabelErrors(name).map((why) => invalid(`${path}.name`, name, why)));
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    return [...errors, ...validatePort(port, path)];
  });
}

function validatePort(port: ServicePort, path: string): FieldError[] {
  return [
    ...validatePortNumber(port.port, `${path}.port`),
    ...validateProtocol(port.protocol, `${path}.protocol`),
    ...validatePortNumberOrName(port.targetPort ?? 0, `${path}.targetPort`),
    ...(port.appProtocol === undefined
      ? []
      : validateQualifiedName(port.appProtocol, `${path}.appProtocol`)),
  ];
}

function validateAffinity(spec: ServiceSpec): FieldError[] {
  const path = 'spec.sessionAffinity';
  const errors = validateOneOf(spec.sessionAffinity, ['ClientIP', 'None'], path);
  if (spec.sessionAffinity !== 'ClientIP') return errors;
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 0;
  if (seconds > 0 && seconds <= longestAffinity) return errors;
  const detail = `must be greater than 0 and less than ${longestAffinity}`;
  return [...errors, invalid(`${path}Config.clientIP.timeoutSeconds`, seconds, detail)];
}

function validateNodePorts({ type, ports = [] }: ServiceSpec): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ nodePort = 0, protocol }, index) => {
    if (nodePort === 0) return [];
    const path = `spec.ports[${index}].nodePort`;
    const errors: FieldError[] = [];
    if (type === 'ClusterIP') {
      errors.push(forbidden(path, "may not be used when `type` is 'ClusterIP'"));
    }
    const key = `${protocol ?? ''}/${nodePort}`;
    if (seen.has(key)) errors.push(duplicate(path, nodePort));
    seen.add(key);
    return errors;
  });
}

function validateRepeatedPorts({ ports = [] }: ServiceSpec): FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap(({ port, protocol = '' }, index) => {
    const key = `${protocol}/${port}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    // The real server prints its internal structure here, with the fields of the key.
    const shown = `{"Name":"","Protocol":${JSON.stringify(protocol)},"AppProtocol":null,"Port":${port},"TargetPort":0,"NodePort":0}`;
    const message = `Duplicate value: ${shown}`;
    return [{ field: `spec.ports[${index}]`, reason: 'FieldValueDuplicate' as const, message }];
  });
}

function validateLoadBalancerFields(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const ranges = spec.loadBalancerSourceRanges ?? [];
  // The real server uses this capital letter.
  const rangesPath = 'spec.LoadBalancerSourceRanges';
  const isLoadBalancer = spec.type === 'LoadBalancer';
  if (ranges.length > 0 && !isLoadBalancer) errors.push(forbidden(rangesPath, onlyLoadBalancer));
  for (const [index, range] of ranges.entries()) {
    errors.push(...validatePrefix(range.trim(), `${rangesPath}[${index}]`));
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer) {
    errors.push(forbidden('spec.allocateLoadBalancerNodePorts', onlyLoadBalancer));
  }
  if (spec.loadBalancerClass === undefined) return errors;
  const path = 'spec.loadBalancerClass';
  if (!isLoadBalancer) errors.push(forbidden(path, onlyLoadBalancer));
  else errors.push(...validateQualifiedName(spec.loadBalancerClass, path));
  return errors;
}

function validateTrafficPolicies(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const { externalTrafficPolicy, internalTrafficPolicy, trafficDistribution } = spec;
  const policies = ['Cluster', 'Local'];
  if (isExternallyAccessible(spec)) {
    errors.push(...validateOneOf(externalTrafficPolicy, policies, 'spec.externalTrafficPolicy'));
  } else if (externalTrafficPolicy !== undefined) {
    const detail = 'may only be set for externally-accessible services';
    errors.push(invalid('spec.externalTrafficPolicy', externalTrafficPolicy, detail));
  }
  const health = spec.healthCheckNodePort ?? 0;
  if (needsHealthCheckPort(spec)) {
    if (health === 0) errors.push(required('spec.healthCheckNodePort'));
    else errors.push(...validatePortNumber(health, 'spec.healthCheckNodePort'));
  } else if (health !== 0) {
    const detail =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalid('spec.healthCheckNodePort', health, detail));
  }
  if (internalTrafficPolicy !== undefined && !policies.includes(internalTrafficPolicy)) {
    errors.push(notSupported('spec.internalTrafficPolicy', internalTrafficPolicy, policies));
  }
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution)) {
    errors.push(notSupported('spec.trafficDistribution', trafficDistribution, distributions));
  }
  return errors;
}
