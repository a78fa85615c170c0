import { tryParseAddress } from '@causeway/base/address/address';
import { isObject, type JsonObject } from '../http/call.ts';
import { badRequest, invalidAttribute } from './refusals.ts';

/** Reads one value of a body. Throws a rejection that names the attribute. */
export type Reader = (name: string, value: unknown) => unknown;

export interface Attribute {
  readonly read: Reader;
  /** The methods that accept the attribute. */
  readonly in: 'post' | 'put' | 'both';
  readonly required?: boolean;
}

export type Attributes = Readonly<Record<string, Attribute>>;

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

export const string: Reader = (name, value) => {
  if (typeof value !== 'string') {
    throw invalidAttribute(name, `'${show(value)}' is not a valid string.`);
  }
  if (value.length > 255) {
    throw invalidAttribute(name, `'${value}' exceeds maximum length of 255.`);
  }
  return value;
};

export const uuid: Reader = (name, value) => {
  if (typeof value !== 'string' || !uuidPattern.test(value)) {
    throw invalidAttribute(name, `'${show(value)}' is not a valid UUID.`);
  }
  return value;
};

export const boolean: Reader = (name, value) => {
  if (typeof value === 'boolean') return value;
  const text = String(value).toLowerCase();
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw invalidAttribute(name, `'${show(value)}' cannot be converted to boolean.`);
};

export const integer: Reader = (name, value) => {
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) {
    throw invalidAttribute(name, `'${show(value)}' is not an integer.`);
  }
  return number;
};

export const address: Reader = (name, value) => {
  const parsed = typeof value === 'string' ? tryParseAddress(value) : undefined;
  if (parsed === undefined) {
    throw invalidAttribute(name, `'${show(value)}' is not a valid IP address.`);
  }
  return parsed;
};

export const object: Reader = (name, value) => {
  if (!isObject(value)) throw invalidAttribute(name, `'${show(value)}' is not a dictionary.`);
  return value;
};

/** Accepts any value unchanged. */
export const anything: Reader = (_name, value) => value;

export function orNull(read: Reader): Reader {
  return (name, value) => (value === null ? null : read(name, value));
}

export function listOf(read: Reader): Reader {
  return (name, value) => {
    if (!Array.isArray(value)) throw invalidAttribute(name, `'${show(value)}' is not a list.`);
    return value.map((item: unknown) => read(name, item));
  };
}

export function oneOf(...allowed: readonly string[]): Reader {
  return (name, value) => {
    if (typeof value === 'string' && allowed.includes(value)) return value;
    throw invalidAttribute(name, `${show(value)} is not in valid_values.`);
  };
}

export function show(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Attributes of every resource that are read-only. */
const readOnly = ['id', 'status', 'tags', 'created_at', 'updated_at', 'revision_number'];

/** Reads a body by the table of attributes. Absent attributes are absent in the result. */
export function readAttributes(
  attributes: Attributes,
  body: JsonObject,
  mode: 'post' | 'put',
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const attribute = attributes[name];
    if (attribute === undefined) {
      if (!readOnly.includes(name)) throw badRequest(`Unrecognized attribute(s) '${name}'`);
      // Only Neutron ports accept `tags` on creation, and ignore them.
      if (mode === 'post' && name === 'tags' && 'network_id' in attributes) continue;
      throw mode === 'post'
        ? badRequest(`Attribute '${name}' not allowed in POST`)
        : badRequest(`Cannot update read-only attribute ${name}`);
    }
    if (attribute.in !== 'both' && attribute.in !== mode) {
      throw mode === 'post'
        ? badRequest(`Attribute '${name}' not allowed in POST`)
        : badRequest(`Cannot update read-only attribute ${name}`);
    }
    values[name] = attribute.read(name, value);
  }
  if (mode === 'put') return values;
  for (const [name, attribute] of Object.entries(attributes)) {
    if (attribute.required === true && values[name] === undefined) {
      throw badRequest(`Failed to parse request. Required attribute '${name}' not specified`);
    }
  }
  return values;
}
