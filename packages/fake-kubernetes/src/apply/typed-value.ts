import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { emptySet, type FieldSet, leaf, node, shownStep } from './field-set.ts';

/** A part of a value that a manager can own separately. */
export interface Element {
  readonly schema: Schema | undefined;
  readonly value: unknown;
  /**
   * True for items of lists and entries of maps, which exist independently; false for fields of a structure.
   */
  readonly isItem: boolean;
}

/** Returns the parts of a value by step, or undefined if the value can only be owned as a whole. */
export function elementsOf(
  schema: Schema | undefined,
  value: unknown,
): Map<string, Element> | undefined {
  if (Array.isArray(value)) return listElements(schema, value);
  if (!isObject(value) || schema?.['x-kubernetes-map-type'] === 'atomic') return undefined;
  return new Map(
    Object.entries(value).map(([name, field]) => {
      const fieldSchema = schema?.properties?.[name];
      return [
        `f:${name}`,
        {
          schema: fieldSchema ?? entrySchema(schema),
          value: field,
          isItem: fieldSchema === undefined && schema !== undefined,
        },
      ];
    }),
  );
}

function entrySchema(schema: Schema | undefined): Schema | undefined {
  const entries = schema?.additionalProperties;
  return typeof entries === 'object' ? entries : undefined;
}

function listElements(
  schema: Schema | undefined,
  items: readonly unknown[],
): Map<string, Element> | undefined {
  const steps = items.map((item) => stepOf(schema, item));
  const elements = new Map<string, Element>();
  for (const [index, step] of steps.entries()) {
    // A list that has an item without a key, or a duplicate key, can only be compared as a whole.
    if (step === undefined || elements.has(step)) return undefined;
    elements.set(step, { schema: schema?.items, value: items[index], isItem: true });
  }
  return elements;
}

/** The step of a list item in a field set; undefined for lists that are owned as a whole. */
export function stepOf(schema: Schema | undefined, item: unknown): string | undefined {
  switch (schema?.['x-kubernetes-list-type']) {
    case 'set':
      return isObject(item) || Array.isArray(item) ? undefined : `v:${JSON.stringify(item)}`;
    case 'map':
      return isObject(item) ? keyStep(schema, item) : undefined;
    default:
      return undefined;
  }
}

function keyStep(schema: Schema, item: JsonObject): string | undefined {
  const keys: JsonObject = {};
  for (const key of [...(schema['x-kubernetes-list-map-keys'] ?? [])].sort()) {
    const value = item[key] ?? schema.items?.properties?.[key]?.default;
    if (value !== undefined) keys[key] = value;
  }
  return Object.keys(keys).length === 0 ? undefined : `k:${JSON.stringify(keys)}`;
}

/** Paths of list items that occur twice, in the notation of messages. */
export function duplicateItems(schema: Schema | undefined, value: unknown, path = ''): string[] {
  if (isObject(value)) {
    return Object.entries(value).flatMap(([name, field]) =>
      duplicateItems(schema?.properties?.[name] ?? entrySchema(schema), field, `${path}.${name}`),
    );
  }
  if (!Array.isArray(value)) return [];
  const steps = value.map((item) => stepOf(schema, item));
  const twice = steps.filter((step, index) => step !== undefined && steps.indexOf(step) < index);
  const below = value.flatMap((item, index) =>
    duplicateItems(schema?.items, item, `${path}${shownStep(steps[index] ?? `i:${index}`)}`),
  );
  return [
    ...twice.map((step) => `${path}: duplicate entries for key ${shownStep(step ?? '')}`),
    ...below,
  ];
}

/** All fields that a value sets. The applier owns them. */
export function fieldsOf(schema: Schema | undefined, value: unknown): FieldSet {
  const elements = elementsOf(schema, value);
  if (elements === undefined || elements.size === 0) return leaf;
  return node(
    false,
    [...elements].map(([step, element]) => {
      const below = fieldsOf(element.schema, element.value);
      return [step, element.isItem ? { ...below, member: true } : below];
    }),
  );
}

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

const same: Comparison = { added: emptySet, modified: emptySet, removed: emptySet };

/** Compares the fields of two values. Undefined means absent; null means present and empty. */
export function compare(schema: Schema | undefined, before: unknown, after: unknown): Comparison {
  if (before === after) return same;
  const left = elementsOf(schema, before);
  const right = elementsOf(schema, after);
  const isWhole = (value: unknown, elements: unknown) =>
    elements === undefined && value !== undefined && value !== null;
  const bothEmpty = (left?.size ?? 0) === 0 && (right?.size ?? 0) === 0;
  if (bothEmpty || isWhole(before, left) || isWhole(after, right))
    return compareWhole(before, after);
  const steps = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  const parts: [string, Comparison][] = [];
  for (const step of steps) {
    const a = left?.get(step);
    const b = right?.get(step);
    parts.push([step, compareElement(a, b)]);
  }
  const pick = (which: keyof Comparison) =>
    node(
      false,
      parts.map(([step, part]) => [step, part[which]]),
    );
  return { added: pick('added'), modified: pick('modified'), removed: pick('removed') };
}

/** Marks an added or removed element itself, in addition to the differences below it. */
function compareElement(before: Element | undefined, after: Element | undefined): Comparison {
  const below = compare((before ?? after)?.schema, before?.value, after?.value);
  if (before === undefined) return { ...below, added: { ...below.added, member: true } };
  if (after === undefined) return { ...below, removed: { ...below.removed, member: true } };
  return below;
}

function compareWhole(before: unknown, after: unknown): Comparison {
  if (before === undefined) return { ...same, added: leaf };
  if (after === undefined) return { ...same, removed: leaf };
  return isDeepStrictEqual(before ?? null, after ?? null) ? same : { ...same, modified: leaf };
}

/**
 * The object that a server with fixed types has before any field is set. Structures that every object has are
 * present and empty; required lists are null.
 */
export function zeroValue(schema: Schema | undefined): JsonObject {
  const result: JsonObject = {};
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    if (isObject(field.default) && field.type === 'object') result[name] = zeroValue(field);
    else if (field.type === 'array' && schema?.required?.includes(name) === true)
      result[name] = null;
  }
  return result;
}
