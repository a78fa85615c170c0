import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { isArray } from './json.ts';
import { memberSchema } from './schema.ts';

export interface Pruned {
  readonly value: JsonObject;
  /** Sorted paths of removed fields: `spec.containers[0].nmae`. */
  readonly unknown: readonly string[];
}

const typeAndMetadata = new Set(['apiVersion', 'kind', 'metadata']);

/** Returns the object without the fields that the schema doesn't define. */
export function pruneObject(schema: Schema | undefined, object: JsonObject): Pruned {
  const unknown: string[] = [];
  const root: Schema = { ...schema, 'x-kubernetes-embedded-resource': true };
  const value = prune(root, object, '', unknown);
  return { value: isObject(value) ? value : {}, unknown: unknown.sort() };
}

function prune(
  schema: Schema | undefined,
  value: unknown,
  path: string,
  unknown: string[],
): unknown {
  if (isArray(value)) {
    const preserved = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
    if (preserved && schema.items === undefined) return value;
    return value.map((item, index) => prune(schema?.items, item, `${path}[${index}]`, unknown));
  }
  return isObject(value) ? pruneMembers(schema, value, path, unknown) : value;
}

function pruneMembers(
  schema: Schema | undefined,
  value: JsonObject,
  path: string,
  unknown: string[],
): JsonObject {
  const keepsUnknown =
    schema?.['x-kubernetes-preserve-unknown-fields'] === true ||
    schema?.additionalProperties === true;
  const members: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const here = path === '' ? name : `${path}.${name}`;
    const own = memberSchema(schema, name);
    if (schema?.['x-kubernetes-embedded-resource'] === true && typeAndMetadata.has(name)) {
      members[name] = member;
    } else if (own !== undefined) {
      members[name] = prune(own, member, here, unknown);
    } else if (keepsUnknown) {
      members[name] = member;
    } else {
      unknown.push(here);
    }
  }
  return members;
}
