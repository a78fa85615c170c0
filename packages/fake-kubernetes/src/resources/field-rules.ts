import { parseInterface, prefixOf } from '@causeway/base/address/prefix';
import { tryParseAddress } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { invalid, notSupported, required, type FieldError } from '../schema/field-error.ts';
import { jsonEqual } from '../schema/json.ts';
import { qualifiedNameErrors } from '../schema/names.ts';

/** Rules for single fields that several kinds share. Each rule returns the errors. */

export function validateAddress(text: string | undefined, path: string): FieldError[] {
  const detail = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
  return tryParseAddress(text ?? '') === undefined ? [invalid(path, text ?? '', detail)] : [];
}

export function validatePrefix(text: string | undefined, path: string): FieldError[] {
  try {
    const { address, length } = parseInterface(text ?? '');
    const hasHostBits = prefixOf(address, length).address !== address;
    const detail = 'must not have bits set beyond the prefix length';
    return hasHostBits ? [invalid(path, text, detail)] : [];
  } catch (error) {
    if (!(error instanceof CausewayError)) throw error;
    const detail = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';
    return [invalid(path, text ?? '', detail)];
  }
}

/**
 * Validates an address that can receive traffic. Unspecified, loopback, link-local and link-local multicast
 * addresses are invalid.
 */
export function validateEndpointAddress(text: string | undefined, path: string): FieldError[] {
  const address = tryParseAddress(text ?? '');
  if (address === undefined || text === undefined) {
    return [invalid(path, text ?? '', 'must be a valid IP address')];
  }
  const complain = (detail: string) => [invalid(path, text, detail)];
  if (address === '0.0.0.0' || address === '::') {
    return complain(`may not be unspecified (${text})`);
  }
  if (address.startsWith('127.') || address === '::1') {
    return complain('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if (address.startsWith('169.254.') || /^fe[89ab]/.test(address)) {
    return complain('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if (address.startsWith('224.0.0.') || /^ff.2:/.test(address)) {
    return complain('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return [];
}

export function validatePortNumber(port: number | undefined, path: string): FieldError[] {
  const value = port ?? 0;
  const isPort = value >= 1 && value <= 65_535;
  return isPort ? [] : [invalid(path, value, 'must be between 1 and 65535, inclusive')];
}

export function validatePortName(given: string | undefined, path: string): FieldError[] {
  const name = given ?? '';
  const errors: string[] = [];
  if (name.length > 15) errors.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) errors.push('must contain at least one letter (a-z)');
  if (name.includes('--')) errors.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) {
    errors.push('must not begin or end with a hyphen');
  }
  return errors.map((why) => invalid(path, name, why));
}

export function validatePortNumberOrName(port: number | string, path: string): FieldError[] {
  return typeof port === 'number' ? validatePortNumber(port, path) : validatePortName(port, path);
}

const protocols = ['SCTP', 'TCP', 'UDP'];

export function validateProtocol(protocol: string | undefined, path: string): FieldError[] {
  if (protocol === undefined || protocol === '') return [required(path)];
  return protocols.includes(protocol) ? [] : [notSupported(path, protocol, protocols)];
}

export function validateOneOf(
  value: string | undefined,
  supported: readonly string[],
  path: string,
): FieldError[] {
  if (value === undefined || value === '') return [required(path)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

export function validateQualifiedName(name: string, path: string): FieldError[] {
  return qualifiedNameErrors(name).map((why) => invalid(path, name, why));
}

export function validateNotNegative(value: number | undefined, path: string): FieldError[] {
  const isNegative = value !== undefined && value < 0;
  return isNegative ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

export function validateUnchanged(value: unknown, old: unknown, path: string): FieldError[] {
  return jsonEqual(value, old) ? [] : [invalid(path, value ?? null, 'field is immutable')];
}
