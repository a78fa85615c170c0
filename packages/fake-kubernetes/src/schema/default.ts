import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { isArray } from './json.ts';
import { memberSchema } from './schema.ts';

/**
 * Returns the value with the schema's defaults, applied top down. A default object also gets the defaults of
 * its fields. A null that the schema doesn't allow counts as absent.
 */
export function applyDefaults(schema: Schema | undefined, value: unknown): unknown {
  return fill(schema, dropNulls(schema, value));
}

function fill(schema: Schema | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  if (isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => fill(items, instead(items, item)));
  }
  if (!isObject(value)) return value;
  const members: JsonObject = { ...value };
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined) continue;
    const given = members[name];
    if (given === undefined || isUnwantedNull(property, given)) members[name] = property.default;
  }
  for (const [name, member] of Object.entries(members)) {
    const own = memberSchema(schema, name);
    if (own !== undefined) members[name] = fill(own, instead(own, member));
  }
  return members;
}

function instead(schema: Schema, value: unknown): unknown {
  return isUnwantedNull(schema, value) ? (schema.default ?? null) : value;
}

function isUnwantedNull(schema: Schema | undefined, value: unknown): boolean {
  return value === null && schema !== undefined && schema.nullable !== true;
}

/** Removes null members if the schema neither allows null nor has a default. */
function dropNulls(schema: Schema | undefined, value: unknown): unknown {
  if (isArray(value)) return value.map((item) => dropNulls(schema?.items, item));
  if (!isObject(value)) return value;
  const members: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const own = memberSchema(schema, name);
    if (isUnwantedNull(own, member) && own?.default === undefined) continue;
    members[name] = dropNulls(own, member);
  }
  return members;
}
