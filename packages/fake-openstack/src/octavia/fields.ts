import { tryParseAddress } from '@causeway/base/address/address';
import { isObject, type JsonObject } from '../http/call.ts';
import { invalid, invalidField } from './refusals.ts';

export type FieldReader = (name: string, value: unknown) => unknown;

export interface Field {
  readonly read: FieldReader;
  readonly in: 'post' | 'both';
  readonly required?: boolean;
}

export type Fields = Readonly<Record<string, Field>>;

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function show(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export const text: FieldReader = (name, value) => {
  if (typeof value !== 'string') throw invalidField(name, show(value), 'Value should be a string');
  if (value.length > 255) {
    throw invalidField(name, value, 'Value should have a maximum character requirement of 255');
  }
  return value;
};

export const uuid: FieldReader = (name, value) => {
  if (typeof value !== 'string' || !uuidPattern.test(value)) {
    throw invalidField(name, show(value), 'Value should be UUID format');
  }
  return value;
};

export const address: FieldReader = (name, value) => {
  const parsed = typeof value === 'string' ? tryParseAddress(value) : undefined;
  if (parsed === undefined) {
    throw invalidField(name, show(value), 'Value should be IPv4 or IPv6 format');
  }
  return parsed;
};

export const boolean: FieldReader = (name, value) => {
  if (typeof value === 'boolean') return value;
  throw invalidField(name, show(value), 'Value should be a boolean');
};

export function whole(minimum: number, maximum: number): FieldReader {
  return (name, value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      throw invalidField(name, show(value), 'Value should be an integer');
    }
    if (value < minimum) {
      throw invalidField(name, show(value), `Value should be greater or equal to ${minimum}`);
    }
    if (value > maximum) {
      throw invalidField(name, show(value), `Value should be lower or equal to ${maximum}`);
    }
    return value;
  };
}

export function oneOf(...allowed: readonly string[]): FieldReader {
  return (name, value) => {
    if (typeof value === 'string' && allowed.includes(value)) return value;
    throw invalidField(name, show(value), `Value should be one of: ${allowed.join(', ')}`);
  };
}

export function listOf(read: FieldReader): FieldReader {
  return (name, value) => {
    if (!Array.isArray(value)) throw invalidField(name, show(value), 'Value should be a list');
    return value.map((item: unknown) => read(name, item));
  };
}

export function nullable(read: FieldReader): FieldReader {
  return (name, value) => (value === null ? null : read(name, value));
}

export function objectOf(fields: Fields, where: string): FieldReader {
  return (name, value) => {
    if (!isObject(value)) throw invalidField(name, show(value), 'Value should be an object');
    return readFields(fields, value, 'post', where);
  };
}

export const anything: FieldReader = (_name, value) => value;

/** Reads an object by the table of its fields. `where` is Octavia's name of the object. */
export function readFields(
  fields: Fields,
  body: JsonObject,
  mode: 'post' | 'put',
  where: string,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const field = fields[name];
    if (field === undefined || (mode === 'put' && field.in === 'post')) {
      throw invalid(`Unknown attribute for argument ${where}: ${name}`);
    }
    values[name] = field.read(name, value);
  }
  if (mode === 'put') return values;
  for (const [name, field] of Object.entries(fields)) {
    if (field.required === true && (values[name] === undefined || values[name] === null)) {
      throw invalidField(name, 'None', 'Mandatory field missing.');
    }
  }
  return values;
}
