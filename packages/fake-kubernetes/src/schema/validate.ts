import {
  invalid,
  noField,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
  type FieldError,
} from './field-error.ts';
import { fitsFormat, isCheckedFormat } from './formats.ts';
import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { canonicalText, isArray, jsonEqual } from './json.ts';
import { compiledPattern, TooLongToMatch } from './pattern.ts';

/**
 * The errors of a value and the number of passed checks. If all alternatives fail, the API server reports the
 * alternative with the most passed checks, so the result includes the count.
 */
interface Outcome {
  readonly errors: readonly FieldError[];
  readonly passed: number;
}

/** Returns the errors of a value under a schema, with the API server's messages. */
export function validateValue(schema: Schema, value: unknown, path = ''): FieldError[] {
  return [...check(schema, value, path).errors];
}

function check(schema: Schema, value: unknown, path: string): Outcome {
  if (value === null)
    return merge([checkType(schema, value, path), checkEnum(schema, value, path)]);
  const outcomes = [checkType(schema, value, path), checkJunctors(schema, value, path)];
  if (typeof value === 'string') outcomes.push(checkString(schema, value, path));
  if (typeof value === 'number') outcomes.push(checkNumber(schema, value, path));
  if (isArray(value)) outcomes.push(checkArray(schema, value, path));
  outcomes.push(checkEnum(schema, value, path));
  if (isObject(value)) outcomes.push(checkObject(schema, value, path));
  return merge(outcomes);
}

function merge(outcomes: readonly Outcome[]): Outcome {
  return {
    errors: outcomes.flatMap((outcome) => outcome.errors),
    passed: outcomes.reduce((sum, outcome) => sum + outcome.passed, 0),
  };
}

function outcome(errors: readonly FieldError[]): Outcome {
  return { errors, passed: errors.length === 0 ? 1 : 0 };
}

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function allowedTypes(schema: Schema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return schema.type === undefined ? [] : [schema.type];
}

function checkType(schema: Schema, value: unknown, path: string): Outcome {
  const allowed = allowedTypes(schema);
  const actual = jsonType(value);
  const fits =
    allowed.length === 0 ||
    allowed.includes(actual) ||
    (actual === 'integer' && allowed.includes('number')) ||
    (value === null && schema.nullable === true);
  if (fits) return outcome([]);
  const detail = `${path} in body must be of type ${allowed.join(',')}: ${JSON.stringify(actual)}`;
  return outcome([typeInvalid(fieldName(path), actual, detail)]);
}

function checkEnum(schema: Schema, value: unknown, path: string): Outcome {
  const choices = schema.enum;
  if (choices === undefined || choices.length === 0) return outcome([]);
  if (value === null && schema.nullable === true && choices.includes(null)) return outcome([]);
  if (choices.some((choice) => jsonEqual(choice, value))) return outcome([]);
  const names = choices.map((choice) =>
    typeof choice === 'string' ? choice : JSON.stringify(choice),
  );
  return outcome([notSupported(fieldName(path), value ?? '', names)]);
}

function checkString(schema: Schema, value: string, path: string): Outcome {
  const errors: FieldError[] = [];
  const bounds = stringError(schema, value, path);
  if (bounds !== undefined) errors.push(bounds);
  const { format } = schema;
  if (format !== undefined && isCheckedFormat(format) && !fitsFormat(format, value)) {
    const detail = `${path} in body must be of type ${format}: ${JSON.stringify(value)}`;
    errors.push(typeInvalid(fieldName(path), value, detail));
  }
  return outcome(errors);
}

/** Checks length and pattern, and returns the first error. */
function stringError(schema: Schema, value: string, path: string): FieldError | undefined {
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return tooLong(fieldName(path), schema.maxLength);
  }
  if (schema.minLength !== undefined && length < schema.minLength) {
    const detail = `${path} in body should be at least ${schema.minLength} chars long`;
    return invalid(fieldName(path), value, detail);
  }
  return schema.pattern === undefined ? undefined : patternError(schema.pattern, value, path);
}

function patternError(pattern: string, value: string, path: string): FieldError | undefined {
  try {
    const compiled = compiledPattern(pattern);
    if (compiled === undefined || compiled.find(value) !== undefined) return undefined;
    return invalid(fieldName(path), value, `${path} in body should match '${pattern}'`);
  } catch (error) {
    if (!(error instanceof TooLongToMatch)) throw error;
    return invalid(fieldName(path), value, `${path} in body: ${error.message}`);
  }
}

const int32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };

function checkNumber(schema: Schema, value: number, path: string): Outcome {
  const errors: FieldError[] = [];
  const fail = (detail: string) =>
    errors.push(invalid(fieldName(path), value, `${path} in body should be ${detail}`));
  if (schema.type === 'integer' && schema.format === 'int32') {
    if (value < int32.minimum || value > int32.maximum) {
      const detail = `Checked value must be of type integer with format int32 in ${path}`;
      errors.push(invalid(noField, '', detail));
    }
  }
  if (schema.type === 'integer' && !Number.isInteger(value)) {
    const format =
      schema.format === undefined ? '(default format)' : `with format ${schema.format}`;
    errors.push(invalid(noField, '', `Checked value must be of type integer ${format} in ${path}`));
  }
  const { multipleOf, maximum, minimum } = schema;
  // For whole numbers, the server truncates the factor to a whole number.
  const factor = Number.isInteger(value) ? Math.trunc(multipleOf ?? 1) : (multipleOf ?? 1);
  if (factor <= 0) {
    const detail = `factor MultipleOf declared for ${path} must be positive: ${factor}`;
    errors.push(invalid(fieldName(path), factor, detail));
  } else if (!Number.isInteger(value / factor) && multipleOf !== undefined) {
    fail(`a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined) {
    if (schema.exclusiveMaximum === true && value >= maximum) fail(`less than ${maximum}`);
    else if (value > maximum) fail(`less than or equal to ${maximum}`);
  }
  if (minimum !== undefined) {
    if (schema.exclusiveMinimum === true && value <= minimum) fail(`greater than ${minimum}`);
    else if (value < minimum) fail(`greater than or equal to ${minimum}`);
  }
  return outcome(errors);
}

function checkArray(schema: Schema, value: readonly unknown[], path: string): Outcome {
  const outcomes: Outcome[] = [];
  const { items } = schema;
  if (items !== undefined) {
    outcomes.push(...value.map((item, index) => check(items, item, `${path}[${index}]`)));
  }
  const errors: FieldError[] = [];
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    const detail = `${path} in body should have at least ${schema.minItems} items`;
    errors.push(invalid(fieldName(path), value.length, detail));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push(tooMany(fieldName(path), value.length, schema.maxItems));
  }
  if (schema.uniqueItems === true && new Set(value.map(canonicalText)).size < value.length) {
    errors.push(invalid(fieldName(path), '', `${path} in body shouldn't contain duplicates`));
  }
  return merge([...outcomes, outcome(errors)]);
}

function checkObject(schema: Schema, value: JsonObject, path: string): Outcome {
  const size = Object.keys(value).length;
  const errors: FieldError[] = [];
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    const detail = `${path} in body should have at least ${schema.minProperties} properties`;
    errors.push(invalid(fieldName(path), size, detail));
  }
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    errors.push(tooMany(fieldName(path), size, schema.maxProperties));
  }
  const { properties = {}, additionalProperties } = schema;
  const outcomes: Outcome[] = [];
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) continue;
    if (additionalProperties === false) {
      errors.push(
        invalid(fieldName(path), name, `${path}.${name} in body is a forbidden property`),
      );
    } else if (typeof additionalProperties === 'object') {
      outcomes.push(check(additionalProperties, member, `${path}.${name}`));
    }
  }
  for (const [name, property] of Object.entries(properties)) {
    const member = value[name];
    if (member === undefined) continue;
    outcomes.push(check(property, member, path === '' ? name : `${path}.${name}`));
  }
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name)) errors.push(required(fieldName(`${path}.${name}`)));
  }
  return merge([...outcomes, outcome(errors)]);
}

function checkJunctors(schema: Schema, value: unknown, path: string): Outcome {
  const outcomes: Outcome[] = [];
  const name = JSON.stringify(path);
  if (schema.anyOf !== undefined && schema.anyOf.length > 0) {
    const results = schema.anyOf.map((alternative) => check(alternative, value, path));
    if (results.every((result) => result.errors.length > 0)) {
      outcomes.push(outcome([general(`${name} must validate at least one schema (anyOf)`)]));
      outcomes.push(closest(results));
    }
  }
  if (schema.oneOf !== undefined && schema.oneOf.length > 0) {
    const results = schema.oneOf.map((alternative) => check(alternative, value, path));
    const valid = results.filter((result) => result.errors.length === 0).length;
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      const detail = `${name} must validate one and only one schema (oneOf). ${found}`;
      outcomes.push(outcome([general(detail)]));
      if (valid === 0) outcomes.push(closest(results));
    }
  }
  if (schema.allOf !== undefined && schema.allOf.length > 0) {
    const results = schema.allOf.map((part) => check(part, value, path));
    const valid = results.filter((result) => result.errors.length === 0).length;
    outcomes.push(...results);
    if (valid !== results.length) {
      const none = valid === 0 ? '. None validated' : '';
      outcomes.push(outcome([general(`${name} must validate all the schemas (allOf)${none}`)]));
    }
  }
  if (schema.not !== undefined && check(schema.not, value, path).errors.length === 0) {
    outcomes.push(outcome([general(`${name} must not validate the schema (not)`)]));
  }
  return merge(outcomes);
}

function closest(results: readonly Outcome[]): Outcome {
  return results.reduce((best, result) => (result.passed > best.passed ? result : best));
}

function general(detail: string): FieldError {
  return invalid(noField, '', detail);
}

/** The name of the field at a path; the root has no name. */
function fieldName(path: string): string {
  return path === '' ? noField : path.replace(/^\./, '');
}
