import { duplicate, invalid, type FieldError } from './field-error.ts';
import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { canonicalText, isArray } from './json.ts';

/** Lists of type `set` contain each item once; lists of type `map` contain each key once. */
export function validateListTypes(schema: Schema, value: unknown, path = ''): FieldError[] {
  if (isArray(value)) {
    const { items } = schema;
    const nested =
      items === undefined
        ? []
        : value.flatMap((item, index) => validateListTypes(items, item, `${path}[${index}]`));
    return [...validateList(schema, value, path), ...nested];
  }
  if (!isObject(value)) return [];
  const errors: FieldError[] = [];
  const { properties = {}, additionalProperties } = schema;
  for (const [name, member] of Object.entries(value)) {
    const own = properties[name];
    if (own !== undefined) {
      errors.push(...validateListTypes(own, member, path === '' ? name : `${path}.${name}`));
    } else if (typeof additionalProperties === 'object') {
      errors.push(...validateListTypes(additionalProperties, member, `${path}[${name}]`));
    }
  }
  return errors;
}

function validateList(schema: Schema, value: readonly unknown[], path: string): FieldError[] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repeated(value).map((index) => duplicate(`${path}[${index}]`, value[index] ?? null));
    case 'map':
      return validateMapList(schema['x-kubernetes-list-map-keys'] ?? [], value, path);
    default:
      return [];
  }
}

function validateMapList(
  keyNames: readonly string[],
  value: readonly unknown[],
  path: string,
): FieldError[] {
  for (const [index, item] of value.entries()) {
    if (item !== null && !isObject(item)) {
      const detail = 'must be an object for an array of list-type map';
      return [invalid(`${path}[${index}]`, item, detail)];
    }
  }
  const keys = value.map((item) => keyOf(keyNames, item));
  return repeated(keys).map((index) => duplicate(`${path}[${index}]`, keys[index] ?? null));
}

function keyOf(keyNames: readonly string[], item: unknown): JsonObject {
  const key: JsonObject = {};
  for (const name of keyNames) {
    const value = isObject(item) ? item[name] : undefined;
    if (value !== undefined) key[name] = value;
  }
  return key;
}

/** The index of each item's second occurrence. Further occurrences are not reported. */
function repeated(items: readonly unknown[]): number[] {
  const seen = new Map<string, number>();
  const places: number[] = [];
  for (const [index, item] of items.entries()) {
    const text = canonicalText(item);
    const times = seen.get(text) ?? 0;
    if (times === 1) places.push(index);
    seen.set(text, times + 1);
  }
  return places;
}
