import { ZodError } from 'zod';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import {
  forbidden,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../schema/field-error.ts';
import { parseSchema } from '../../schema/schema.ts';
import { validateStructural } from '../../schema/structural.ts';
import { validateValue } from '../../schema/validate.ts';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Returns the errors of the schema in a CustomResourceDefinition. */
export function validateCrdSchema(raw: unknown, hasStatus: boolean, path: string): FieldError[] {
  const schema = tryParse(raw);
  if (schema instanceof ZodError) {
    return [invalid(path, '', schema.issues.map(({ message }) => message).join(', '))];
  }
  const errors: FieldError[] = [];
  if (hasStatus && schema.type !== undefined && schema.type !== 'object') {
    const detail =
      'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    errors.push(invalid(`${path}.type`, schema.type, detail));
  }
  if (schema.nullable === true) {
    errors.push(forbidden(`${path}.nullable`, 'nullable cannot be true at the root'));
  }
  const structural = validateStructural(schema, path);
  errors.push(...structural);
  if (structural.length === 0) errors.push(...validateDefaults(schema, path));
  errors.push(...validateKeywords(schema, path));
  return errors;
}

function tryParse(raw: unknown): Schema | ZodError {
  try {
    return parseSchema(raw);
  } catch (error) {
    if (error instanceof ZodError) return error;
    throw error;
  }
}

/** This schema and every schema below it, with their paths. */
function* nodes(schema: Schema, path: string): Generator<readonly [Schema, string]> {
  yield [schema, path];
  if (schema.items !== undefined) yield* nodes(schema.items, `${path}.items`);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    yield* nodes(property, `${path}.properties[${name}]`);
  }
  const rest = schema.additionalProperties;
  if (typeof rest === 'object') yield* nodes(rest, `${path}.additionalProperties`);
}

function validateDefaults(schema: Schema, path: string): FieldError[] {
  return [...nodes(schema, path)].flatMap(([node, here]) => {
    if (node.default === undefined) return [];
    return validateValue(node, node.default).map((error) => ({
      ...error,
      field: error.field === '<nil>' ? `${here}.default` : `${here}.default.${error.field}`,
    }));
  });
}

function validateKeywords(schema: Schema, path: string): FieldError[] {
  return [...nodes(schema, path)].flatMap(([node, here]) => [
    ...validatePlainKeywords(node, here),
    ...validateListType(node, here),
    ...validateRules(node, here),
  ]);
}

function validatePlainKeywords(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (schema.type !== undefined && !types.includes(schema.type)) {
    errors.push(notSupported(`${path}.type`, schema.type, types));
  }
  if (schema.uniqueItems === true) {
    const detail =
      'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, detail));
  }
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  const rest = schema.additionalProperties;
  if (hasProperties && rest !== undefined && rest !== true) {
    const detail = 'additionalProperties and properties are mutual exclusive';
    errors.push(forbidden(`${path}.additionalProperties`, detail));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    const here = `${path}.x-kubernetes-preserve-unknown-fields`;
    errors.push(invalid(here, false, 'must be true or undefined'));
  }
  return errors;
}

function validateListType(schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const list: string | undefined = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const listPath = `${path}.x-kubernetes-list-type`;
  if (list !== undefined) {
    if (schema.type !== 'array') {
      const detail = 'must be array if x-kubernetes-list-type is specified';
      errors.push(
        schema.type === undefined
          ? required(`${path}.type`, detail)
          : invalid(`${path}.type`, schema.type, detail),
      );
    }
    if (!['atomic', 'set', 'map'].includes(list)) {
      errors.push(notSupported(listPath, list, ['atomic', 'set', 'map']));
    }
  }
  if (keys.length > 0 && list !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(list === undefined ? required(listPath, detail) : invalid(listPath, list, detail));
  }
  return list === 'map' ? [...errors, ...validateMapKeys(schema, keys, path)] : errors;
}

function validateMapKeys(schema: Schema, keys: readonly string[], path: string): FieldError[] {
  const keysPath = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0) {
    return [required(keysPath, 'must not be empty if x-kubernetes-list-type is map')];
  }
  const items = schema.items;
  if (items?.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [invalid(`${path}.items.type`, items?.type ?? '', detail)];
  }
  return keys.flatMap((key) => {
    const property = items.properties?.[key];
    if (property === undefined) {
      return [invalid(keysPath, keys, 'entries must all be names of item properties')];
    }
    if (items.required?.includes(key) === true || property.default !== undefined) return [];
    const detail =
      'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
    return [required(`${path}.items.properties[${key}].default`, detail)];
  });
}

function validateRules(schema: Schema, path: string): FieldError[] {
  return (schema['x-kubernetes-validations'] ?? []).flatMap(({ rule }, index) => {
    const here = `${path}.x-kubernetes-validations[${index}].rule`;
    return rule.trim() === '' ? [required(here, 'rule is not specified')] : [];
  });
}
