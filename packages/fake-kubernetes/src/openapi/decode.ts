import { isObject, type JsonObject } from '../object.ts';
import { typeNameOf } from './built-in-schemas.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';

export interface Decoded {
  readonly object: JsonObject;
  /** Paths of dropped fields that the kind doesn't define: `spec.ports[0].colour`. */
  readonly unknownFields: readonly string[];
  /** Values of the wrong type: field and error message. */
  readonly mismatches: readonly string[];
}

/**
 * Decodes an object as a built-in kind, like a server with fixed types. Unknown fields, nulls, and empty
 * optional lists and maps are dropped. A value of the wrong type is rejected.
 */
export function decodeAs(schema: Schema, value: JsonObject): Decoded {
  const reading = new Reading();
  const object = reading.object(schema, value, '');
  return { object, unknownFields: reading.unknownFields, mismatches: reading.mismatches };
}

class Reading {
  readonly unknownFields: string[] = [];
  readonly mismatches: string[] = [];

  object(schema: Schema, value: JsonObject, path: string): JsonObject {
    const result: JsonObject = {};
    for (const [name, field] of Object.entries(value)) {
      const fieldPath = path === '' ? name : `${path}.${name}`;
      const fieldSchema = schema.properties?.[name];
      if (fieldSchema === undefined) {
        this.unknownFields.push(fieldPath);
        continue;
      }
      const required = schema.required?.includes(name) === true;
      const read = this.value(fieldSchema, field, fieldPath, shortName(schema));
      if (read === undefined || (!required && isEmptyContainer(fieldSchema, read))) continue;
      result[name] = read;
    }
    return result;
  }

  value(schema: Schema, value: unknown, path: string, owner: string): unknown {
    if (value === null || value === undefined) return undefined;
    switch (schema.type) {
      case 'object':
        return this.#objectOrMap(schema, value, path, owner);
      case 'array':
        return this.#array(schema, value, path, owner);
      case 'string':
        return typeof value === 'string' ? value : this.#mismatch(owner, path, value, 'string');
      case 'boolean':
        return typeof value === 'boolean' ? value : this.#mismatch(owner, path, value, 'bool');
      case 'integer':
        return Number.isInteger(value)
          ? value
          : this.#mismatch(owner, path, value, goInteger(schema));
      case 'number':
        return typeof value === 'number' ? value : this.#mismatch(owner, path, value, 'float64');
      case undefined:
        return schema.oneOf === undefined ? value : this.#union(schema.oneOf, value, path, owner);
      default:
        return value;
    }
  }

  #objectOrMap(schema: Schema, value: unknown, path: string, owner: string): unknown {
    if (!isObject(value)) return this.#mismatch(owner, path, value, 'map');
    if (schema.properties !== undefined) return this.object(schema, value, path);
    const { additionalProperties } = schema;
    if (typeof additionalProperties !== 'object') return value;
    const entries: [string, unknown][] = [];
    for (const [key, entry] of Object.entries(value)) {
      const read = this.value(additionalProperties, entry, `${path}.${key}`, owner);
      // In a map of strings, null means the empty string. In other maps, the entry counts as absent.
      if (read !== undefined) entries.push([key, read]);
      else if (additionalProperties.type === 'string') entries.push([key, '']);
    }
    return Object.fromEntries(entries);
  }

  #array(schema: Schema, value: unknown, path: string, owner: string): unknown {
    if (!Array.isArray(value)) {
      // Bytes are published as a string with the format `byte`, so this schema is a list.
      return this.#mismatch(owner, path, value, 'slice');
    }
    const items = schema.items ?? {};
    return value.map((item, index) => this.value(items, item, `${path}[${index}]`, owner));
  }

  /** `int-or-string` and quantities: one of several primitive types. */
  #union(choices: readonly Schema[], value: unknown, path: string, owner: string): unknown {
    const fits = choices.some(({ type }) =>
      type === 'integer' ? Number.isInteger(value) : typeof value === type,
    );
    return fits ? value : this.#mismatch(owner, path, value, 'string');
  }

  #mismatch(owner: string, path: string, value: unknown, wanted: string): undefined {
    const found = Array.isArray(value) ? 'array' : typeof value;
    const described = typeof value === 'number' ? `number ${value}` : found;
    const field = `${owner}.${path.replaceAll(/\[\d+\]/g, '')}`;
    this.mismatches.push(
      `json: cannot unmarshal ${described} into Go struct field ${field} of type ${wanted}`,
    );
    return undefined;
  }
}

const shortName = (schema: Schema) => typeNameOf(schema).split('.').at(-1) ?? '';

const goInteger = (schema: Schema) => (schema.format === 'int32' ? 'int32' : 'int64');

function isEmptyContainer(schema: Schema, value: unknown): boolean {
  if (Array.isArray(value)) return schema.type === 'array' && value.length === 0;
  const isMap = schema.properties === undefined && typeof schema.additionalProperties === 'object';
  return isMap && isObject(value) && Object.keys(value).length === 0;
}
