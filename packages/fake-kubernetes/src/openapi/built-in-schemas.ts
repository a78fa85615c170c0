import { isObject } from '../object.ts';
import type { Schema } from '../schema-type.ts';
import documents from './built-in-schemas.json' with { type: 'json' };

const referencePrefix = '#/components/schemas/';

/** The published schemas by their long names, references not resolved: what `/openapi` serves. */
export const publishedSchemas: Readonly<Record<string, unknown>> = documents;

interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const resolved = new Map<string, Schema>();
const typeNames = new WeakMap<object, string>();

/** The full name of the type that a schema of ours describes: `io.k8s.api.core.v1.ServicePort`. */
export function typeNameOf(schema: Schema): string {
  const inherited: unknown = Object.getPrototypeOf(schema);
  return typeNames.get(schema) ?? (isObject(inherited) ? (typeNames.get(inherited) ?? '') : '');
}

/** The schema of a built-in kind, or undefined where the embedded API has none. */
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

/** Resolved once each and then shared; a schema that refers to itself becomes a cycle. */
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
  // A reference with a default beside it is published as an allOf of one. It inherits rather than
  // copies, as the content of what it refers to may still be on its way in a circle of references.
  if (!Array.isArray(allOf)) return own;
  return Object.assign(Object.create(resolve(allOf[0])) as object, own);
}

function resolveEach(properties: Readonly<Record<string, unknown>>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, resolve(schema)]),
  );
}
