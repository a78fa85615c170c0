import { createHash } from 'node:crypto';
import type { ServedResource } from '../cluster/served-resource.ts';
import { isObject } from '../object.ts';
import { apiVersionOf, type ResourceDefinition } from '../resource-definition.ts';
import { builtInSchemaName, publishedSchemas } from './built-in-schemas.ts';

const version3Prefix = '#/components/schemas/';
const version2Prefix = '#/definitions/';
const info = { title: 'Kubernetes', version: 'v1.36.3' };

/** The path of a group and version under `/openapi/v3`: `api/v1`, `apis/apps/v1`. */
const documentPath = (apiVersion: string) =>
  apiVersion.includes('/') ? `apis/${apiVersion}` : `api/${apiVersion}`;

/** `/openapi/v3`: index of the documents of each group and version. */
export function documentIndex(served: readonly ServedResource[]): object {
  const versions = new Set(served.map(({ definition }) => apiVersionOf(definition)));
  const paths = [...versions].map((apiVersion) => {
    const path = documentPath(apiVersion);
    const document = JSON.stringify(documentFor(served, path));
    const hash = createHash('sha512').update(document).digest('hex').toUpperCase();
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
  });
  return { paths: Object.fromEntries(paths) as Record<string, object> };
}

/** `/openapi/v3/apis/GROUP/VERSION`. Returns undefined if the path is not served. */
export function documentFor(served: readonly ServedResource[], path: string): object | undefined {
  const members = served.filter(
    ({ definition }) => documentPath(apiVersionOf(definition)) === path,
  );
  if (members.length === 0) return undefined;
  return {
    openapi: '3.0.0',
    info,
    paths: Object.assign({}, ...members.map(({ definition }) => pathsOf(definition))) as object,
    components: { schemas: schemasOf(members) },
  };
}

/** `/openapi/v2`: all schemas in one document. */
export function version2Document(served: readonly ServedResource[]): object {
  return {
    swagger: '2.0',
    info,
    paths: Object.assign({}, ...served.map(({ definition }) => pathsOf(definition))) as object,
    definitions: rewritten(schemasOf(served)),
  };
}

/**
 * `/openapi/v2` as protobuf, which kubectl requests before it sends a List. The document contains only
 * version and title. Kubectl skips checks of kinds without a schema; the server checks them anyway.
 */
export function version2Protobuf(): string {
  // All lengths and characters are below 128, so the text and the bytes are equal.
  const field = (number: number, value: string) =>
    String.fromCharCode((number << 3) | 2, value.length) + value;
  return field(1, '2.0') + field(2, field(1, info.title) + field(2, info.version));
}

function schemasOf(members: readonly ServedResource[]): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  for (const served of members) {
    const name = schemaName(served.definition);
    if (served.isCustom) {
      schemas[name] = customSchema(served);
      include(schemas, 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta');
    } else {
      include(schemas, name);
    }
  }
  return schemas;
}

/** Adds a published schema and all schemas it refers to. */
function include(schemas: Record<string, unknown>, name: string): void {
  if (schemas[name] !== undefined || publishedSchemas[name] === undefined) return;
  schemas[name] = publishedSchemas[name];
  for (const reference of references(publishedSchemas[name])) include(schemas, reference);
}

function references(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap((item) => references(item));
  if (!isObject(schema)) return [];
  return Object.entries(schema).flatMap(([name, value]) =>
    name === '$ref' && typeof value === 'string'
      ? [value.slice(version3Prefix.length)]
      : references(value),
  );
}

/** Built-in kinds have their published full names. Names of custom kinds start with the reversed group. */
function schemaName(definition: ResourceDefinition): string {
  const { group, version, kind } = definition;
  return builtInSchemaName(definition) ?? [...group.split('.').reverse(), version, kind].join('.');
}

function customSchema({ definition, schema }: ServedResource): object {
  const { group, version, kind } = definition;
  const typeFields = { apiVersion: { type: 'string' }, kind: { type: 'string' } };
  const metadata = {
    allOf: [{ $ref: `${version3Prefix}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` }],
  };
  return {
    ...schema,
    type: 'object',
    properties: { ...schema?.properties, ...typeFields, metadata },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  };
}

/** Only the operations that clients read: the kinds of the paths and the options of writes. */
function pathsOf(definition: ResourceDefinition): Record<string, object> {
  const { group, version, kind, plural, namespaced } = definition;
  const root = `/${documentPath(apiVersionOf(definition))}`;
  const base = namespaced ? `${root}/namespaces/{namespace}/${plural}` : `${root}/${plural}`;
  const operation = (action: string, ...parameters: readonly string[]) => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
    parameters: parameters.map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
    responses: { '200': { description: 'OK' } },
  });
  const writing = ['dryRun', 'fieldManager', 'fieldValidation'];
  return {
    [base]: { get: operation('list'), post: operation('post', ...writing) },
    [`${base}/{name}`]: {
      get: operation('get'),
      put: operation('put', ...writing),
      patch: operation('patch', ...writing, 'force'),
      delete: operation('delete', 'dryRun'),
    },
  };
}

/** The same schemas, with references in the older format. */
function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) =>
      name === '$ref' && typeof field === 'string'
        ? [name, field.replace(version3Prefix, version2Prefix)]
        : [name, rewritten(field)],
    ),
  );
}
