import { CelEvaluationError, CelSyntaxError } from '../cel/errors.ts';
import { parseExpression, type Expression, type Scope } from '../cel/expression.ts';
import { asObject, isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { noField, type FieldError, type FieldErrorReason } from './field-error.ts';
import { canonicalText, isArray } from './json.ts';

type Rule = NonNullable<Schema['x-kubernetes-validations']>[number];

/** Whether the schema contains a rule. */
export function hasRules(schema: Schema): boolean {
  const { properties = {}, items, additionalProperties } = schema;
  return (
    (schema['x-kubernetes-validations'] ?? []).length > 0 ||
    Object.values(properties).some(hasRules) ||
    (items !== undefined && hasRules(items)) ||
    (typeof additionalProperties === 'object' && hasRules(additionalProperties))
  );
}

/**
 * Returns the errors of the rules in a schema. Rules that use unsupported CEL features are skipped.
 * Transition rules run only if an old value exists.
 */
export function validateRules(
  schema: Schema,
  object: JsonObject,
  old: JsonObject | undefined,
): FieldError[] {
  return visit(schema, visible(object), old === undefined ? undefined : visible(old), '');
}

/** Rules can only read the names in the metadata. */
function visible(object: JsonObject): JsonObject {
  const { name, generateName } = asObject(object['metadata']);
  const names = Object.entries({ name, generateName }).filter(([, value]) => value !== undefined);
  return { ...object, metadata: Object.fromEntries(names) };
}

function visit(schema: Schema, value: unknown, old: unknown, path: string): FieldError[] {
  if (value === null || value === undefined) return [];
  const own = (schema['x-kubernetes-validations'] ?? []).flatMap((rule) =>
    check(rule, schema, value, old, path),
  );
  return [
    ...own,
    ...visitItems(schema, value, old, path),
    ...visitMembers(schema, value, old, path),
  ];
}

function visitItems(schema: Schema, value: unknown, old: unknown, path: string): FieldError[] {
  const { items } = schema;
  if (items === undefined || !isArray(value)) return [];
  const keyOf = itemKey(schema);
  const before = new Map(
    keyOf === undefined || !isArray(old) ? [] : old.map((item) => [keyOf(item), item]),
  );
  return value.flatMap((item, index) =>
    visit(
      items,
      item,
      keyOf === undefined ? undefined : before.get(keyOf(item)),
      `${path}[${index}]`,
    ),
  );
}

/** Only lists with keys allow matching an item with its old version. */
function itemKey(schema: Schema): ((item: unknown) => string) | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return (item) => canonicalText(keys.map((key) => asObject(item)[key]));
}

function visitMembers(schema: Schema, value: unknown, old: unknown, path: string): FieldError[] {
  if (!isObject(value)) return [];
  const before = asObject(old);
  const { properties = {}, additionalProperties } = schema;
  return Object.entries(value).flatMap(([name, member]) => {
    const property = properties[name];
    if (property !== undefined) {
      return visit(property, member, before[name], path === '' ? name : `${path}.${name}`);
    }
    if (typeof additionalProperties !== 'object') return [];
    return visit(additionalProperties, member, before[name], `${path}[${name}]`);
  });
}

const parsed = new Map<string, Expression | undefined>();
const mostKept = 1_000;

function expressionOf(source: string): Expression | undefined {
  if (parsed.has(source)) return parsed.get(source);
  if (parsed.size >= mostKept) parsed.clear();
  let expression: Expression | undefined;
  try {
    expression = parseExpression(source);
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
  }
  parsed.set(source, expression);
  return expression;
}

function check(
  rule: Rule,
  schema: Schema,
  self: unknown,
  old: unknown,
  path: string,
): FieldError[] {
  const expression = expressionOf(rule.rule);
  if (expression === undefined) return [];
  const { isTransition } = expression;
  if (isTransition && (old === undefined || old === null)) return [];
  const scope = { self, ...(isTransition ? { oldSelf: old } : {}) };
  const field = path === '' ? noField : path;
  try {
    if (expression.evaluate(scope) === true) return [];
  } catch (error) {
    if (error instanceof CelSyntaxError) return [];
    if (!(error instanceof CelEvaluationError)) throw error;
    const words = rule.message?.trim() ?? rule.rule.trim();
    const detail =
      error.message === 'no such overload'
        ? `'no such overload': call arguments did not match a supported operator, function or macro signature for rule: ${words}`
        : `${error.message} evaluating rule: ${words}`;
    return [refusal(field, 'FieldValueInvalid', JSON.stringify(schema.type ?? ''), detail)];
  }
  const isStructure = schema.type === 'object' || schema.type === 'array';
  const at = rule.fieldPath === undefined ? field : join(path, rule.fieldPath);
  const shown = isStructure ? undefined : canonicalText(self);
  return [refusal(at, reasonOf(rule), shown, messageOf(rule, scope))];
}

function join(path: string, fieldPath: string): string {
  const step = fieldPath.replace(/^\./, '');
  return path === '' ? step : `${path}.${step}`;
}

const titles: Readonly<Record<string, string>> = {
  FieldValueDuplicate: 'Duplicate value',
  FieldValueForbidden: 'Forbidden',
  FieldValueInvalid: 'Invalid value',
  FieldValueRequired: 'Required value',
};

function reasonOf({ reason = 'FieldValueInvalid' }: Rule): FieldErrorReason {
  return Object.hasOwn(titles, reason) ? (reason as FieldErrorReason) : 'FieldValueInvalid';
}

function refusal(
  field: string,
  reason: FieldErrorReason,
  shown: string | undefined,
  detail: string,
): FieldError {
  const showsValue = reason === 'FieldValueInvalid' || reason === 'FieldValueDuplicate';
  // A duplicate is reported without a detail.
  const words = reason === 'FieldValueDuplicate' ? undefined : detail;
  const parts = [titles[reason], showsValue ? shown : undefined, words];
  return { field, reason, message: parts.filter((part) => part !== undefined).join(': ') };
}

function messageOf({ rule, message, messageExpression }: Rule, scope: Scope): string {
  const computed = messageExpression === undefined ? undefined : textOf(messageExpression, scope);
  return computed ?? message?.trim() ?? `failed rule: ${rule.trim()}`;
}

/** The text result of an expression, or undefined if there is no usable text. */
function textOf(source: string, scope: Scope): string | undefined {
  const expression = expressionOf(source);
  if (expression === undefined) return undefined;
  try {
    const text = expression.evaluate(scope);
    return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
  } catch (error) {
    if (error instanceof CelEvaluationError || error instanceof CelSyntaxError) return undefined;
    throw error;
  }
}
