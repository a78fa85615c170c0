import {
  Verbatim,
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../schema/field-error.ts';
import { dns1035LabelErrors, subdomainErrors } from '../../schema/names.ts';
import { validateOneOf, validateUnchanged } from '../field-rules.ts';
import {
  hasCrdCondition,
  type CrdColumn,
  type CrdNames,
  type CrdVersion,
  type CustomResourceDefinition,
} from './crd-type.ts';
import { validateCrdSchema } from './crd-schema-validation.ts';

/** Returns the errors of a CustomResourceDefinition itself. */
export function validateCrd(
  crd: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): FieldError[] {
  const { spec } = crd;
  return [
    ...validateGroup(spec.group),
    ...validateOneOf(spec.scope, ['Cluster', 'Namespaced'], 'spec.scope'),
    ...validateVersions(spec.versions),
    ...validateNames(spec.names),
    ...validateConversion(spec.conversion),
    ...validateStoredVersions(crd),
    ...(spec.preserveUnknownFields === true
      ? [
          invalid(
            'spec.preserveUnknownFields',
            true,
            'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
          ),
        ]
      : []),
    ...(old === undefined ? [] : validateUpdate(crd, old)),
  ];
}

/** The name of a definition has to consist of its plural and its group. */
export function crdNameErrors(crd: CustomResourceDefinition): string[] {
  const { names, group } = crd.spec;
  const { name } = crd.metadata;
  return [
    ...subdomainErrors(name),
    ...(name === `${names.plural}.${group}` ? [] : ['must be spec.names.plural+"."+spec.group']),
  ];
}

function validateGroup(group: string | undefined): FieldError[] {
  const path = 'spec.group';
  if (group === undefined || group === '') return [required(path)];
  const wrong = subdomainErrors(group);
  if (wrong.length > 0) return [invalid(path, group, wrong.join(','))];
  return group.includes('.')
    ? []
    : [invalid(path, group, 'should be a domain with at least one dot')];
}

function validateVersions(given: readonly CrdVersion[] | undefined): FieldError[] {
  const versions = given ?? [];
  const errors: FieldError[] = [];
  for (const [index, version] of versions.entries()) {
    const path = `spec.versions[${index}]`;
    const wrong = dns1035LabelErrors(version.name).join(',');
    if (wrong !== '') {
      errors.push(invalid(`${path}.name`, version.name, wrong));
      if (index === 0) errors.push(invalid('spec.version', version.name, wrong));
    }
    // With a single version, error paths start at `spec`, as in the real server.
    errors.push(...validateVersion(version, versions.length === 1 ? 'spec' : path));
  }
  const names = versions.map(({ name }) => name);
  if (new Set(names).size < names.length) {
    errors.push(invalid('spec.versions', names, 'must contain unique version names'));
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const detail = 'must have exactly one version marked as storage version';
    errors.push(invalid('spec.versions', shownVersions(given), detail));
  }
  return errors;
}

function shownVersions(versions: readonly CrdVersion[] | undefined): Verbatim {
  if (versions === undefined) return new Verbatim('null');
  const items = versions.map(({ name, served, storage, deprecated = false }) =>
    JSON.stringify({
      Name: name,
      Served: served ?? false,
      Storage: storage ?? false,
      Deprecated: deprecated,
      DeprecationWarning: null,
      Schema: null,
      Subresources: null,
      AdditionalPrinterColumns: null,
      SelectableFields: null,
    }),
  );
  return new Verbatim(`[${items.join(',')}]`);
}

function validateVersion(version: CrdVersion, path: string): FieldError[] {
  const isOnly = path === 'spec';
  const schema = version.schema?.openAPIV3Schema;
  const schemaPath = isOnly ? 'spec.validation' : `${path}.schema`;
  const errors =
    schema === undefined
      ? [required(`${isOnly ? 'spec.versions[0]' : path}.schema.openAPIV3Schema`)]
      : validateCrdSchema(
          schema,
          version.subresources?.status !== undefined,
          `${schemaPath}.openAPIV3Schema`,
        );
  errors.push(...validateScale(version, `${path}.subresources`));
  for (const [index, column] of (version.additionalPrinterColumns ?? []).entries()) {
    errors.push(...validateColumn(column, `${path}.additionalPrinterColumns[${index}]`));
  }
  return errors;
}

function validateScale({ subresources }: CrdVersion, path: string): FieldError[] {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const errors: FieldError[] = [];
  const check = (name: keyof typeof scale, prefixes: readonly string[], detail: string) => {
    const value = scale[name] ?? '';
    const here = `${path}.scale.${name}`;
    if (value === '') {
      if (name !== 'labelSelectorPath') errors.push(required(here));
    } else if (!value.startsWith('.')) {
      errors.push(invalid(here, value, 'must be a simple json path starting with .'));
    } else if (!prefixes.some((prefix) => value.startsWith(prefix))) {
      errors.push(invalid(here, value, detail));
    }
  };
  check('specReplicasPath', ['.spec.'], 'should be a json path under .spec');
  check('statusReplicasPath', ['.status.'], 'should be a json path under .status');
  check(
    'labelSelectorPath',
    ['.spec.', '.status.'],
    'should be a json path under either .spec or .status',
  );
  return errors;
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = [
  'byte',
  'date',
  'date-time',
  'double',
  'float',
  'int32',
  'int64',
  'password',
];

function validateColumn(column: CrdColumn, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if ((column.name ?? '') === '') errors.push(required(`${path}.name`));
  const types = `must be one of ${columnTypes.join(',')}`;
  if ((column.type ?? '') === '') errors.push(required(`${path}.type`, types));
  else if (!columnTypes.includes(column.type)) {
    errors.push(invalid(`${path}.type`, column.type, types));
  }
  if (column.format !== undefined && !columnFormats.includes(column.format)) {
    const detail = `must be one of ${columnFormats.join(',')}`;
    errors.push(invalid(`${path}.format`, column.format, detail));
  }
  const jsonPath = column.jsonPath ?? '';
  if (jsonPath === '') errors.push(required(`${path}.JSONPath`));
  else if (!jsonPath.startsWith('.')) {
    const detail = 'must be a simple json path starting with .';
    errors.push(invalid(`${path}.JSONPath`, jsonPath, detail));
  }
  return errors;
}

function validateNames(names: CrdNames): FieldError[] {
  const path = 'spec.names';
  const errors: FieldError[] = [];
  for (const name of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if ((names[name] ?? '') === '') errors.push(required(`${path}.${name}`));
  }
  for (const name of ['plural', 'singular'] as const) {
    const value = names[name] ?? '';
    const wrong = value === '' ? [] : dns1035LabelErrors(value);
    if (wrong.length > 0) errors.push(invalid(`${path}.${name}`, value, wrong.join(',')));
  }
  for (const name of ['kind', 'listKind'] as const) {
    const value = names[name] ?? '';
    const wrong = value === '' ? [] : dns1035LabelErrors(value.toLowerCase());
    const lead = 'may have mixed case, but should otherwise match: ';
    if (wrong.length > 0) errors.push(invalid(`${path}.${name}`, value, lead + wrong.join(',')));
  }
  for (const list of ['shortNames', 'categories'] as const) {
    for (const [index, value] of (names[list] ?? []).entries()) {
      const wrong = dns1035LabelErrors(value);
      const here = `${path}.${list}[${index}]`;
      if (wrong.length > 0) errors.push(invalid(here, value, wrong.join(',')));
    }
  }
  if (names.kind !== '' && names.kind === names.listKind) {
    const detail = 'kind and listKind may not be the same';
    errors.push(invalid(`${path}.listKind`, names.listKind, detail));
  }
  return errors;
}

function validateConversion(
  conversion: CustomResourceDefinition['spec']['conversion'],
): FieldError[] {
  const path = 'spec.conversion';
  const strategy = conversion?.strategy ?? '';
  if (strategy === '') return [required(`${path}.strategy`)];
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [notSupported(`${path}.strategy`, strategy, ['None', 'Webhook'])];
  }
  if (strategy === 'None' && conversion?.webhook !== undefined) {
    const detail = 'should not be set when strategy is not set to Webhook';
    return [forbidden(`${path}.webhookClientConfig`, detail)];
  }
  if (strategy === 'Webhook' && conversion?.webhook === undefined) {
    const detail = 'required when strategy is set to Webhook';
    return [required(`${path}.webhookClientConfig`, detail)];
  }
  return [];
}

/** Versions in which objects may be stored can't be removed. */
function validateStoredVersions({ spec, status }: CustomResourceDefinition): FieldError[] {
  const names = (spec.versions ?? []).map(({ name }) => name);
  const path = 'status.storedVersions';
  if ((status?.storedVersions ?? []).length === 0) {
    return [invalid(path, null, 'must have at least one stored version')];
  }
  return (status?.storedVersions ?? []).flatMap((stored, index) => {
    if (names.includes(stored)) return [];
    const detail = `missing from spec.versions; ${stored} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${stored} and removes ${stored} from status.storedVersions`;
    return [invalid(`${path}[${index}]`, stored, detail)];
  });
}

function validateUpdate(
  { spec }: CustomResourceDefinition,
  old: CustomResourceDefinition,
): FieldError[] {
  const before = old.spec;
  const errors: FieldError[] = [];
  if (hasCrdCondition(old, 'Established')) {
    errors.push(
      ...validateUnchanged(spec.scope, before.scope, 'spec.scope'),
      ...validateUnchanged(spec.names.kind, before.names.kind, 'spec.names.kind'),
    );
  }
  return [
    ...errors,
    ...validateUnchanged(spec.group, before.group, 'spec.group'),
    ...validateUnchanged(spec.names.plural, before.names.plural, 'spec.names.plural'),
  ];
}
