import { familyOf, tryParseAddress } from '@causeway/base/address/address';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../schema/field-error.ts';
import { jsonEqual } from '../../schema/json.ts';
import { validateAddress } from '../field-rules.ts';
import { isHeadless, type IpFamily, type ServiceSpec } from './service-type.ts';

const allFamilies: readonly IpFamily[] = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

export function ipFamilyOf(text: string): IpFamily {
  const address = tryParseAddress(text);
  return address !== undefined && familyOf(address) === 6 ? 'IPv6' : 'IPv4';
}

/** Validates the combination of `clusterIP`, `clusterIPs`, `ipFamilies` and `ipFamilyPolicy`. */
export function validateClusterIps(spec: ServiceSpec): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const errors: FieldError[] = [];
  if (clusterIP !== '') {
    if (clusterIPs.length === 0) errors.push(required('spec.clusterIPs'));
    else if (clusterIPs[0] !== clusterIP) {
      errors.push(invalid('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`'));
    }
  } else if (clusterIPs.length > 0) {
    const detail = 'must be empty when `clusterIP` is not specified';
    errors.push(invalid('spec.clusterIPs', clusterIPs, detail));
  }
  for (const [index, family] of ipFamilies.entries()) {
    const path = `spec.ipFamilies[${index}]`;
    if (!allFamilies.includes(family)) errors.push(notSupported(path, family, allFamilies));
    if (ipFamilies.indexOf(family) < index) errors.push(duplicate(path, family));
  }
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) {
    errors.push(notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, policies));
  }
  return [...errors, ...validateAddresses(spec)];
}

function validateAddresses(spec: ServiceSpec): FieldError[] {
  const { clusterIPs = [], ipFamilies = [] } = spec;
  const errors: FieldError[] = [];
  if (clusterIPs.length > 1 && clusterIPs[0] === 'None') {
    errors.push(invalid('spec.clusterIPs', clusterIPs, "'None' must be the first and only value"));
  }
  for (const [index, text] of clusterIPs.entries()) {
    if (index === 0 && text === 'None') continue;
    errors.push(...validateAddress(text, `spec.clusterIPs[${index}]`));
  }
  const isUnsound = errors.length > 0;
  if (clusterIPs.length > 2) {
    errors.push(invalid('spec.clusterIPs', clusterIPs, 'may only hold up to 2 values'));
  }
  if (isUnsound) return errors;
  const families = clusterIPs.map(ipFamilyOf);
  if (clusterIPs.length > 1 && new Set(families).size < families.length) {
    const detail = 'may specify no more than one IP for each IP family';
    errors.push(invalid('spec.clusterIPs', clusterIPs, detail));
  }
  if (isHeadless(spec)) return errors;
  for (const [index, wanted] of ipFamilies.slice(0, clusterIPs.length).entries()) {
    if (families[index] === wanted) continue;
    const detail = `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``;
    errors.push(invalid(`spec.clusterIPs[${index}]`, clusterIPs[index], detail));
  }
  return errors;
}

/**
 * Decides a Service's policy and families, in this order: the request, the old values, the cluster's first
 * family. Changes the spec, or returns errors and leaves the spec incomplete.
 */
export function decideFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  clusterFamilies: readonly IpFamily[],
): FieldError[] {
  if (spec.type === 'ExternalName' || keepsPreference(spec, old)) return [];
  const isBare = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  // A headless Service without a selector has manual endpoints, which can have both families independently of
  // the cluster's families.
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (isBare ? 'RequireDualStack' : 'SingleStack');
  const malformed = validateClusterIps(spec);
  if (malformed.length > 0) return malformed;
  const unfit = [
    ...(old === undefined ? [] : adaptToPolicy(spec, old)),
    ...validateAgainstPolicy(spec),
    ...inferFamilies(spec, clusterFamilies),
  ];
  if (unfit.length > 0) return unfit;
  if (!isBare) {
    const missing = validateAgainstCluster(spec, clusterFamilies);
    if (missing.length > 0) return missing;
  }
  completeFamilies(spec, isBare ? allFamilies : clusterFamilies, clusterFamilies);
  return [];
}

/** A Service that prefers dual stack keeps its families if none of these fields change. */
function keepsPreference(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  if (old === undefined || spec.ipFamilyPolicy !== 'PreferDualStack') return false;
  return (['ipFamilyPolicy', 'clusterIP', 'clusterIPs', 'ipFamilies', 'type'] as const).every(
    (name) => jsonEqual(spec[name], old[name]),
  );
}

/**
 * A change to SingleStack releases the second address. Without this change, the removal of an address is an
 * error.
 */
function adaptToPolicy(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy === 'SingleStack') {
    const sameIps = jsonEqual(spec.clusterIPs, old.clusterIPs) && spec.clusterIP === old.clusterIP;
    if (sameIps && spec.clusterIPs !== undefined) spec.clusterIPs = spec.clusterIPs.slice(0, 1);
    if (jsonEqual(spec.ipFamilies, old.ipFamilies) && spec.ipFamilies !== undefined) {
      spec.ipFamilies = spec.ipFamilies.slice(0, 1);
    }
    return [];
  }
  const isReduced = (now: readonly string[] = [], before: readonly string[] = []) =>
    before.length > now.length && now.length > 0 && now[0] === before[0];
  const errors: FieldError[] = [];
  const complain = (what: string) =>
    errors.push(
      invalid(
        'spec.ipFamilyPolicy',
        spec.ipFamilyPolicy ?? '',
        `must be 'SingleStack' to release the secondary ${what}`,
      ),
    );
  if (isReduced(spec.clusterIPs, old.clusterIPs)) complain('cluster IP');
  if (isReduced(spec.ipFamilies, old.ipFamilies)) complain('IP family');
  return errors;
}

function validateAgainstPolicy(spec: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  const complain = (what: string) =>
    invalid(
      'spec.ipFamilyPolicy',
      'SingleStack',
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    );
  return [
    ...(spec.clusterIPs?.length === 2 ? [complain('cluster IPs')] : []),
    ...(spec.ipFamilies?.length === 2 ? [complain('IP families')] : []),
  ];
}

function inferFamilies(spec: ServiceSpec, clusterFamilies: readonly IpFamily[]): FieldError[] {
  const { clusterIPs = [] } = spec;
  const errors: FieldError[] = [];
  for (const [index, text] of clusterIPs.entries()) {
    if (text === 'None' || index < (spec.ipFamilies?.length ?? 0)) continue;
    const family = ipFamilyOf(text);
    if (clusterFamilies.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.push(invalid(`spec.clusterIPs[${index}]`, clusterIPs, detail));
    }
  }
  return errors;
}

function validateAgainstCluster(
  spec: ServiceSpec,
  clusterFamilies: readonly IpFamily[],
): FieldError[] {
  const errors: FieldError[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && clusterFamilies.length < 2) {
    const detail = 'this cluster is not configured for dual-stack services';
    errors.push(invalid('spec.ipFamilyPolicy', 'RequireDualStack', detail));
  }
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    if (clusterFamilies.includes(family)) continue;
    errors.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  }
  return errors;
}

function completeFamilies(
  spec: ServiceSpec,
  available: readonly IpFamily[],
  clusterFamilies: readonly IpFamily[],
): void {
  const families = [...(spec.ipFamilies ?? [])];
  if (families.length === 0) families.push(...clusterFamilies.slice(0, 1));
  if (spec.ipFamilyPolicy !== 'SingleStack' && families.length === 1) {
    families.push(...available.filter((family) => !families.includes(family)).slice(0, 1));
  }
  spec.ipFamilies = families;
}
