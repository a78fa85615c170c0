import { tryParseAddress } from '@causeway/base/address/address';
import { forbidden, invalid, notSupported, type FieldError } from '../../schema/field-error.ts';
import { subdomainErrors } from '../../schema/names.ts';
import { validateAddress } from '../field-rules.ts';
import {
  isHeadless,
  needsHealthCheckPort,
  type Service,
  type ServiceSpec,
} from './service-type.ts';

const fixed = 'may not change once set';

/** Validates changes of a Service. Its addresses are immutable, but a second one can be added or removed. */
export function validateServiceUpdate({ spec }: Service, { spec: old }: Service): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.type !== 'ExternalName' && old.type !== 'ExternalName') {
    errors.push(...validateClusterIpChange(spec, old), ...validateFamilyChange(spec, old));
  }
  const staysLoadBalancer = spec.type === 'LoadBalancer' && old.type === 'LoadBalancer';
  if (staysLoadBalancer && spec.loadBalancerClass !== old.loadBalancerClass) {
    errors.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass ?? null, fixed));
  }
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(old)) {
    if (spec.healthCheckNodePort !== old.healthCheckNodePort) {
      errors.push(forbidden('spec.healthCheckNodePort', 'field is immutable'));
    }
  }
  return errors;
}

function validateClusterIpChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (isHeadless(spec) && isHeadless(old)) return [];
  const now = spec.clusterIPs ?? [];
  const before = old.clusterIPs ?? [];
  if (now.length === before.length) {
    return before.flatMap((ip, index) =>
      ip === now[index] ? [] : [invalid(`spec.clusterIPs[${index}]`, now, fixed)],
    );
  }
  const errors: FieldError[] = [];
  if (now.length === 0) {
    errors.push(invalid('spec.clusterIPs[0]', now, 'primary clusterIP can not be unset'));
  } else if (before.length > 0 && now[0] !== before[0]) {
    errors.push(invalid('spec.clusterIPs[0]', now, fixed));
  }
  if (before.length > now.length && now.length === 1) {
    errors.push(...validateRelease(spec, 'clusterIP'));
  }
  return errors;
}

function validateFamilyChange(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (isHeadless(spec) || isHeadless(old)) return [];
  const now = spec.ipFamilies ?? [];
  const before = old.ipFamilies ?? [];
  if (now.length === before.length) {
    return before.flatMap((family, index) =>
      family === now[index] ? [] : [invalid('spec.ipFamilies[0]', now, fixed)],
    );
  }
  const errors: FieldError[] = [];
  if (before.length > 0 && now.length > 0 && now[0] !== before[0]) {
    errors.push(invalid('spec.ipFamilies[0]', spec.clusterIPs ?? [], fixed));
  }
  if (before.length > now.length && now.length === 1) {
    errors.push(...validateRelease(spec, 'ipFamily'));
  }
  return errors;
}

function validateRelease({ ipFamilyPolicy }: ServiceSpec, what: string): FieldError[] {
  if (ipFamilyPolicy === 'SingleStack') return [];
  const detail = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  return [invalid('spec.ipFamilyPolicy', ipFamilyPolicy ?? null, detail)];
}

/** Validates the reported load balancer status. */
export function validateServiceStatus({ spec, status }: Service): FieldError[] {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const path = 'status.loadBalancer.ingress';
  if (ingress.length > 0 && spec.type !== 'LoadBalancer') {
    return [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return ingress.flatMap(({ ip, hostname, ipMode }, index) => {
    const here = `${path}[${index}]`;
    const errors = ip === undefined ? [] : validateAddress(ip, `${here}.ip`);
    if (ipMode !== undefined && ip === undefined) {
      errors.push(forbidden(`${here}.ipMode`, 'may not be specified when `ip` is not set'));
    } else if (ipMode !== undefined && ipMode !== 'VIP' && ipMode !== 'Proxy') {
      errors.push(notSupported(`${here}.ipMode`, ipMode, ['Proxy', 'VIP']));
    }
    if (hostname === undefined || hostname === '') return errors;
    errors.push(
      ...subdomainErrors(hostname).map((why) => invalid(`${here}.hostname`, hostname, why)),
    );
    if (tryParseAddress(hostname) !== undefined) {
      const detail = 'must be a DNS name, not an IP address';
      errors.push(invalid(`${here}.hostname`, hostname, detail));
    }
    return errors;
  });
}
