import type { Schema } from '@causeway/kubernetes/objects/schema';
import { forbidden, invalid, required, type FieldError } from './field-error.ts';
import { jsonEqual } from './json.ts';
import { compiledPattern } from './pattern.ts';

type Level = 'root' | 'item' | 'field';

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/**
 * Validates that a schema is structural. Every field has exactly one type, declared outside of `anyOf`,
 * `oneOf`, `allOf` and `not`, so that pruning and defaulting are unambiguous.
 */
export function validateStructural(schema: Schema, path: string): FieldError[] {
  const errors = [
    ...validateNode(schema, 'root', path),
    ...validateJunctorsComplete(schema, schema, path, path),
  ];
  const text = (error: FieldError) => `${error.field}: ${error.message}`;
  return errors.sort((left, right) => (text(left) < text(right) ? -1 : 1));
}

function validateNode(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { items, properties = {}, additionalProperties } = schema;
  if (schema.type === 'array' && items === undefined) {
    errors.push(required(`${path}.items`, 'must be specified'));
  }
  if (items !== undefined) errors.push(...validateNode(items, 'item', `${path}.items`));
  for (const [name, property] of Object.entries(properties)) {
    errors.push(...validateNode(property, 'field', `${path}.properties[${name}]`));
  }
  if (additionalProperties !== undefined) {
    const here = `${path}.additionalProperties`;
    if (level === 'root') errors.push(forbidden(here, 'must not be used at the root'));
    if (typeof additionalProperties === 'object') {
      errors.push(...validateNode(additionalProperties, 'field', here));
    }
  }
  errors.push(...validateExtensions(schema, path), ...validateType(schema, level, path));
  errors.push(...validateJunctors(schema, intOrStringException(schema), path));
  if (level === 'root' || schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(...validateTypeMembers(schema, level, path));
  }
  return errors;
}

function validateExtensions(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-int-or-string'] === true) {
    for (const name of [
      'x-kubernetes-preserve-unknown-fields',
      'x-kubernetes-embedded-resource',
    ] as const) {
      if (schema[name] !== true) continue;
      const detail = 'must be false if x-kubernetes-int-or-string is true';
      errors.push(invalid(`${path}.${name}`, true, detail));
    }
  }
  if (schema['x-kubernetes-embedded-resource'] === true) {
    if (schema.additionalProperties !== undefined) {
      const detail = 'must not be used if x-kubernetes-embedded-resource is set';
      errors.push(forbidden(`${path}.additionalProperties`, detail));
    }
    const isEmpty = Object.keys(schema.properties ?? {}).length === 0;
    if (schema['x-kubernetes-preserve-unknown-fields'] !== true && isEmpty) {
      const detail =
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
      errors.push(required(`${path}.properties`, detail));
    }
  }
  if (schema.pattern !== undefined && compiledPattern(schema.pattern) === undefined) {
    const detail = "must be a valid regular expression, but isn't: error parsing regexp";
    errors.push(invalid(`${path}.pattern`, schema.pattern, detail));
  }
  return errors;
}

function validateType(schema: Schema, level: Level, path: string): FieldError[] {
  const here = `${path}.type`;
  const { type } = schema;
  if (schema['x-kubernetes-embedded-resource'] === true && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === undefined ? required(here, detail) : invalid(here, type, detail)];
  }
  if (type === undefined) {
    const isFree =
      schema['x-kubernetes-int-or-string'] === true ||
      schema['x-kubernetes-preserve-unknown-fields'] === true;
    return isFree ? [] : [required(here, missingType[level])];
  }
  if (level === 'root' && type !== 'object') {
    return [invalid(here, type, 'must be object at the root')];
  }
  return [];
}

/** Validates the schema of `apiVersion`, `kind` and `metadata`, which the server defines itself. */
function validateTypeMembers(schema: Schema, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['kind', 'apiVersion'] as const) {
    const property = schema.properties?.[name];
    if (property === undefined || property.type === 'string') continue;
    const here = `${path}.properties[${name}].type`;
    errors.push(invalid(here, property.type ?? '', 'must be string'));
  }
  const metadata = schema.properties?.['metadata'];
  if (metadata === undefined) return errors;
  const here = `${path}.properties[metadata]`;
  if (metadata.type !== 'object') {
    errors.push(invalid(`${here}.type`, metadata.type ?? '', 'must be object'));
  }
  const named = Object.keys(metadata.properties ?? {});
  const { type: _, properties: __, default: ___, description: ____, ...rest } = metadata;
  const isPlain =
    named.every((name) => name === 'name' || name === 'generateName') &&
    Object.values(rest).every((value) => value === undefined);
  if (level === 'root' && !isPlain) {
    const detail =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(here, detail));
  }
  return errors;
}

const intOrString: readonly Schema[] = [{ type: 'integer' }, { type: 'string' }];

/** The only alternatives that can contain types: the two notations of "an integer or a string". */
function intOrStringException(schema: Schema): 'anyOf' | 'allOf' | undefined {
  if (jsonEqual(schema.anyOf, intOrString)) return 'anyOf';
  return jsonEqual(schema.allOf?.[0]?.anyOf, intOrString) ? 'allOf' : undefined;
}

function validateJunctors(
  schema: Schema,
  exception: 'anyOf' | 'allOf' | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, part] of (schema.anyOf ?? []).entries()) {
    if (exception !== 'anyOf')
      errors.push(...validateNested(part, undefined, `${path}.anyOf[${index}]`));
  }
  for (const [index, part] of (schema.allOf ?? []).entries()) {
    const inner = exception === 'allOf' && index === 0 ? 'anyOf' : undefined;
    errors.push(...validateNested(part, inner, `${path}.allOf[${index}]`));
  }
  for (const [index, part] of (schema.oneOf ?? []).entries()) {
    errors.push(...validateNested(part, undefined, `${path}.oneOf[${index}]`));
  }
  if (schema.not !== undefined)
    errors.push(...validateNested(schema.not, undefined, `${path}.not`));
  return errors;
}

/** Keywords that are forbidden inside a junctor, with the error messages. */
const forbiddenInside: readonly (readonly [keyof Schema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function validateNested(
  schema: Schema,
  exception: 'anyOf' | undefined,
  path: string,
): FieldError[] {
  const errors = validateJunctors(schema, exception, path);
  if (schema.items !== undefined) {
    errors.push(...validateNested(schema.items, undefined, `${path}.items`));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    errors.push(...validateNested(property, undefined, `${path}.properties[${name}]`));
  }
  for (const [name, detail] of forbiddenInside) {
    const value = schema[name];
    if (value !== undefined && value !== false) errors.push(forbidden(`${path}.${name}`, detail));
  }
  if (schema.properties?.['metadata'] !== undefined) {
    const detail = 'must not be specified in a nested context';
    errors.push(forbidden(`${path}.properties[metadata]`, detail));
  }
  return errors;
}

/** Every field that a junctor restricts must also be defined outside of it. */
function validateJunctorsComplete(
  nested: Schema,
  outer: Schema,
  outerPath: string,
  path: string,
): FieldError[] {
  const parts: (readonly [Schema, string])[] = [];
  if (nested.not !== undefined) parts.push([nested.not, `${path}.not`]);
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    for (const [index, part] of (nested[name] ?? []).entries()) {
      parts.push([part, `${path}.${name}[${index}]`]);
    }
  }
  return parts.flatMap(([part, here]) => validateComplete(part, outer, outerPath, here));
}

function validateComplete(
  nested: Schema,
  outer: Schema,
  outerPath: string,
  path: string,
): FieldError[] {
  const errors = validateJunctorsComplete(nested, outer, outerPath, path);
  const descend = (part: Schema, into: Schema | undefined, step: string) => {
    if (into === undefined) {
      errors.push(required(outerPath + step, `because it is defined in ${path}${step}`));
    } else {
      errors.push(...validateComplete(part, into, outerPath + step, path + step));
    }
  };
  if (nested.items !== undefined) descend(nested.items, outer.items, '.items');
  for (const [name, property] of Object.entries(nested.properties ?? {})) {
    descend(property, outer.properties?.[name], `.properties[${name}]`);
  }
  return errors;
}
