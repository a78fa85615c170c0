import { isObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import documents from './built-in-schemas.json' with { type: 'json' };

const referencePrefix = '#/components/schemas/';

/** The published schemas by their full names, with unresolved references. `/openapi` serves them. */
export const publishedSchemas: Readonly<Record<string, unknown>> = documents;

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const resolved = new Map<string, Schema>();
const typeNames = new WeakMap<object, string>();

/** The full type name of a schema: `io.k8s.api.core.v1.ServicePort`. */
export function typeNameOf(schema: Schema): string {
  const inherited: unknown = Object.getPrototypeOf(schema);
  return typeNames.get(schema) ?? (isObject(inherited) ? (typeNames.get(inherited) ?? '') : '');
}

/** The schema of a built-in kind, or undefined if the embedded API has none. */
export function builtInSchema(wanted: GroupVersionKind): Schema | undefined {
  const name = builtInSchemaName(wanted);
  return name === undefined ? undefined : schemaNamed(name);
}

export function builtInSchemaName(wanted: GroupVersionKind): string | undefined {
  return namesByKind().get(`${wanted.group}/${wanted.version}/${wanted.kind}`);
}

/** The schema of every object's `metadata`. */
export function metadataSchema(): Schema {
  return schemaNamed('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
}

let names: Map<string, string> | undefined;

function namesByKind(): Map<string, string> {
  if (names !== undefined) return names;
  names = new Map();
  for (const [name, schema] of Object.entries(publishedSchemas)) {
    const kinds = isObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
    for (const { group, version, kind } of (kinds ?? []) as readonly GroupVersionKind[]) {
      names.set(`${group}/${version}/${kind}`, name);
    }
  }
  return names;
}

/** Resolves each schema once and shares it. A schema that refers to itself becomes cyclic. */
function schemaNamed(name: string): Schema {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const target: Record<string, unknown> = {};
  resolved.set(name, target);
  typeNames.set(target, name);
  Object.assign(target, resolve(publishedSchemas[name]));
  return target;
}

function resolve(schema: unknown): Schema {
  if (!isObject(schema)) return {};
  if (typeof schema['$ref'] === 'string') {
    return schemaNamed(schema['$ref'].slice(referencePrefix.length));
  }
  const { allOf, properties, items, additionalProperties, ...rest } = schema;
  const own = {
    ...rest,
    ...(isObject(properties) ? { properties: resolveEach(properties) } : {}),
    ...(items === undefined ? {} : { items: resolve(items) }),
    ...(isObject(additionalProperties)
      ? { additionalProperties: resolve(additionalProperties) }
      : {}),
  };
  // A reference with a default is published as an `allOf` with one entry. The result inherits from the target
  // instead of copying it, because a cyclic target may still be incomplete.
  if (!Array.isArray(allOf)) return own;
  return Object.assign(Object.create(resolve(allOf[0])) as object, own);
}

function resolveEach(properties: Readonly<Record<string, unknown>>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, resolve(schema)]),
  );
}
