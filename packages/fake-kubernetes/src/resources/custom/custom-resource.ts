import type { ServedResource } from '../../cluster/served-resource.ts';
import { asObject, isObject, type JsonObject, type KubeObject } from '../../object.ts';
import { metadataSchema } from '../../openapi/built-in-schemas.ts';
import { decodeAs, type Decoded } from '../../openapi/decode.ts';
import type { Column, ResourceDefinition, ScalePaths } from '../../resource-definition.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { applyDefaults } from '../../schema/default.ts';
import { validateEmbeddedResources } from '../../schema/embedded-resource.ts';
import {
  invalid,
  noField,
  type FieldError,
  type FieldErrorReason,
} from '../../schema/field-error.ts';
import { validateListTypes } from '../../schema/list-types.ts';
import { subdomainErrors } from '../../schema/names.ts';
import { pruneObject } from '../../schema/prune.ts';
import { hasRules, validateRules } from '../../schema/rules.ts';
import { parseSchema } from '../../schema/schema.ts';
import { validateValue } from '../../schema/validate.ts';
import { nameColumn, timeSince } from '../columns.ts';
import { validateMetadata } from '../metadata-rules.ts';
import type { CrdColumn, CrdVersion, CustomResourceDefinition } from './crd-type.ts';
import { evaluateJsonPath, parseJsonPath } from './json-path.ts';

/** The served versions of a custom resource, the preferred version first. */
export function serveCustomResource(crd: CustomResourceDefinition): readonly ServedResource[] {
  const { versions = [] } = crd.spec;
  const storage = versions.find((version) => version.storage) ?? versions[0];
  const storageApiVersion = `${crd.spec.group}/${storage?.name ?? ''}`;
  return versions
    .filter((version) => version.served)
    .sort((left, right) => compareVersions(right.name, left.name))
    .map((version) => serveVersion(crd, version, storageApiVersion));
}

function serveVersion(
  crd: CustomResourceDefinition,
  version: CrdVersion,
  storageApiVersion: string,
): ServedResource {
  const own = parseSchema(version.schema?.openAPIV3Schema ?? {});
  return {
    definition: defineCustomResource(crd, version, own),
    schema: withTypeAndMetadata(own),
    isCustom: true,
    storageApiVersion,
    decode: (body) => decodeCustomResource(own, body),
  };
}

function withTypeAndMetadata(schema: Schema): Schema {
  const text: Schema = { type: 'string' };
  const properties = { apiVersion: text, kind: text, metadata: metadataSchema() };
  return { ...schema, properties: { ...schema.properties, ...properties } };
}

function decodeCustomResource(schema: Schema, body: JsonObject): Decoded {
  const { value, unknown } = pruneObject(schema, body);
  const decoded = decodeAs(metadataSchema(), asObject(body['metadata']));
  const object: JsonObject = { ...value, metadata: decoded.object };
  return {
    object,
    unknownFields: [...decoded.unknownFields.map((path) => `metadata.${path}`), ...unknown],
    mismatches: decoded.mismatches,
  };
}

function defineCustomResource(
  crd: CustomResourceDefinition,
  version: CrdVersion,
  schema: Schema,
): ResourceDefinition {
  const { names, group, scope } = crd.spec;
  const scale = scalePaths(version);
  return {
    group,
    version: version.name,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    kind: names.kind,
    ...(names.listKind === undefined ? {} : { listKind: names.listKind }),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    statusSubresource: version.subresources?.status !== undefined,
    ...(scale === undefined ? {} : { scale }),
    countsGeneration: true,
    requiresVersionOnUpdate: true,
    defaults(draft) {
      const filled = asObject(applyDefaults(schema, draft));
      for (const [name, value] of Object.entries(filled)) {
        if (name !== 'metadata') draft[name] = value;
      }
      for (const name of Object.keys(draft)) if (!(name in filled)) delete draft[name];
    },
    prepareCreate() {},
    prepareUpdate() {},
    validate: (object, old) => [
      ...validateCustomResource((one, before) => validateContent(schema, one, before), object, old),
      ...validateScale(version, object),
    ],
    validateStatus: (object, old) =>
      validateCustomResource(
        (one, before) => validateStatusContent(schema, one, before),
        object,
        old,
      ),
    fieldLabels: (object) => selectableFields(version, object),
    columns: customColumns(version.additionalPrinterColumns),
  };
}

function validateCustomResource(
  validateOne: (object: KubeObject, old: KubeObject | undefined) => FieldError[],
  object: KubeObject,
  old: KubeObject | undefined,
): FieldError[] {
  const errors = [...validateMetadata(object, old, subdomainErrors), ...validateOne(object, old)];
  if (old === undefined || errors.length === 0) return errors;
  // Errors that the stored object already has, for example from a schema change, don't block other changes.
  const known = new Set(validateOne(old, undefined).map(describe));
  return errors.filter((error) => !known.has(describe(error)));
}

/** A write to the status is validated only against the schema of the status, with paths relative to it. */
function validateStatusContent(
  schema: Schema,
  object: KubeObject,
  old: KubeObject | undefined,
): FieldError[] {
  const status = schema.properties?.['status'];
  if (status === undefined || object['status'] === undefined) return [];
  const errors = validateValue(status, object['status']).map((error) => ({
    ...error,
    field: error.field === noField ? 'status' : `status.${error.field}`,
  }));
  return [...errors, ...validateByRules(schema, errors, object, old)];
}

/** The number of replicas is also validated by its path, independently of the schema. */
function validateScale(version: CrdVersion, object: KubeObject): FieldError[] {
  const path = version.subresources?.scale?.specReplicasPath;
  if (path === undefined) return [];
  const [value] = evaluateJsonPath(parseJsonPath(path) ?? [], object);
  if (value === undefined || Number.isInteger(value)) return [];
  const type =
    typeof value === 'number' ? 'float64' : typeof value === 'boolean' ? 'bool' : 'string';
  const shown = isScalar(value) ? String(value) : JSON.stringify(value);
  const detail = `${path} accessor error: ${shown} is of the type ${type}, expected int64`;
  return [invalid(path, 0, detail)];
}

function validateContent(
  schema: Schema,
  object: KubeObject,
  old: KubeObject | undefined,
): FieldError[] {
  const errors = [
    ...validateValue(schema, object),
    ...validateEmbeddedResources(schema, object),
    ...validateListTypes(schema, object),
  ];
  return [...errors, ...validateByRules(schema, errors, object, old)];
}

const blocking: readonly FieldErrorReason[] = [
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
];

/** Rules rely on correct types, so they run only after type validation succeeds. */
function validateByRules(
  schema: Schema,
  errors: readonly FieldError[],
  object: KubeObject,
  old: KubeObject | undefined,
): FieldError[] {
  if (!hasRules(schema)) return [];
  if (!errors.some(({ reason }) => blocking.includes(reason))) {
    return validateRules(schema, object, old);
  }
  const detail =
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';
  return [invalid(noField, null, detail)];
}

const describe = ({ field, message }: FieldError) => `${field}: ${message}`;

const fieldPath = (jsonPath: string) => jsonPath.replace(/^\./, '').split('.');

function scalePaths({ subresources }: CrdVersion): ScalePaths | undefined {
  const scale = subresources?.scale;
  if (scale === undefined) return undefined;
  const { labelSelectorPath = '' } = scale;
  return {
    specReplicas: fieldPath(scale.specReplicasPath),
    statusReplicas: fieldPath(scale.statusReplicasPath),
    ...(labelSelectorPath === '' ? {} : { selector: fieldPath(labelSelectorPath) }),
  };
}

function selectableFields(version: CrdVersion, object: KubeObject): Record<string, string> {
  return Object.fromEntries(
    (version.selectableFields ?? []).map(({ jsonPath }) => {
      const [value] = evaluateJsonPath(parseJsonPath(jsonPath) ?? [], object);
      return [fieldPath(jsonPath).join('.'), isScalar(value) ? String(value) : ''];
    }),
  );
}

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

const creationColumn: CrdColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
};

function customColumns(given: readonly CrdColumn[] | undefined): readonly Column[] {
  const columns = given === undefined || given.length === 0 ? [creationColumn] : given;
  return [nameColumn, ...columns.map(customColumn)];
}

function customColumn(column: CrdColumn): Column {
  const steps = parseJsonPath(column.jsonPath);
  return {
    name: column.name,
    type: column.type as Column['type'],
    format: (column.format ?? '') as Column['format'],
    description: column.description ?? '',
    priority: column.priority ?? 0,
    cell(object, now) {
      const [value] = steps === undefined ? [] : evaluateJsonPath(steps, object);
      if (value === undefined || value === null) return null;
      if (column.type === 'date') {
        return timeSince(typeof value === 'string' ? value : undefined, now);
      }
      if (isScalar(value)) return column.type === 'string' ? String(value) : value;
      return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : null;
    },
  };
}

const versionPattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Newer and more stable versions are greater: v2 > v1 > v1beta2 > v1alpha1 > any other name. */
export function compareVersions(left: string, right: string): number {
  const a = versionRank(left);
  const b = versionRank(right);
  if (a === undefined || b === undefined) {
    if (a === undefined && b === undefined) return left < right ? 1 : left > right ? -1 : 0;
    return a === undefined ? -1 : 1;
  }
  for (const [index, rank] of a.entries()) {
    const difference = rank - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function versionRank(version: string): readonly number[] | undefined {
  const match = versionPattern.exec(version);
  if (match === null) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
