import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { ApiError } from '../status.ts';

const directive = '$patch';
const deletionPrefix = '$deleteFromPrimitiveList/';
const orderPrefix = '$setElementOrder/';
const retainKeys = '$retainKeys';

/**
 * Applies the patch that `kubectl apply`, `label`, `annotate` and `edit` send for built-in kinds. It differs
 * from a merge patch in two ways:
 * - Lists merge by the key that the kind's schema names.
 * - The directives `$patch`, `$deleteFromPrimitiveList`, `$setElementOrder` and `$retainKeys` express other
 *   changes.
 */
export function applyStrategicMergePatch(
  schema: Schema | undefined,
  document: JsonObject,
  patch: JsonObject,
): JsonObject {
  if (patch[directive] === 'delete') return {};
  if (patch[directive] === 'replace') return withoutDirectives(patch);
  checkDirective(patch[directive]);
  const result = retained(document, patch[retainKeys]);
  for (const [name, value] of Object.entries(patch)) {
    if (name === directive || name === retainKeys || name.startsWith(orderPrefix)) continue;
    if (name.startsWith(deletionPrefix)) {
      const field = name.slice(deletionPrefix.length);
      result[field] = withoutItems(result[field], value);
      continue;
    }
    const fieldSchema = schemaOf(schema, name);
    if (value === null) delete result[name];
    else result[name] = mergeValue(fieldSchema, result[name], value, patch[orderPrefix + name]);
  }
  for (const [name, order] of Object.entries(patch)) {
    if (!name.startsWith(orderPrefix)) continue;
    const field = name.slice(orderPrefix.length);
    const current = document[field];
    if (patch[field] !== undefined || !Array.isArray(current) || !Array.isArray(order)) continue;
    result[field] = inOrder(schemaOf(schema, field), current, current, order);
  }
  return result;
}

const schemaOf = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema?.properties?.[name] ??
  (typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined);

function checkDirective(value: unknown): void {
  if (value === undefined || value === 'merge') return;
  throw new ApiError('BadRequest', `Unknown patch type found: ${JSON.stringify(value)}`);
}

function mergeValue(
  schema: Schema | undefined,
  current: unknown,
  value: unknown,
  order: unknown,
): unknown {
  if (isObject(value)) {
    const replaces = schema?.['x-kubernetes-patch-strategy'] === 'replace';
    if (replaces) return withoutDirectives(value);
    return applyStrategicMergePatch(schema, isObject(current) ? current : {}, value);
  }
  if (!Array.isArray(value)) return value;
  const strategies = (schema?.['x-kubernetes-patch-strategy'] ?? '').split(',');
  if (!strategies.includes('merge')) return value.map(cleaned);
  const items = Array.isArray(current) ? (current as readonly unknown[]) : [];
  const merged = mergeLists(schema, items, value);
  return inOrder(schema, merged, items, Array.isArray(order) ? order : value);
}

function mergeLists(
  schema: Schema | undefined,
  current: readonly unknown[],
  patch: readonly unknown[],
): unknown[] {
  const key = schema?.['x-kubernetes-patch-merge-key'];
  if (key === undefined) {
    return [...current, ...patch.filter((item) => !current.includes(item))];
  }
  if (patch.some((item) => isObject(item) && item[directive] === 'replace')) {
    return patch.filter((item) => isObject(item) && item[directive] === undefined);
  }
  let result = [...current];
  for (const item of patch) {
    if (!isObject(item)) continue;
    const keyValue = item[key];
    if (keyValue === undefined) {
      throw new ApiError(
        'BadRequest',
        `map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`,
      );
    }
    const matches = (other: unknown) => isObject(other) && isDeepStrictEqual(other[key], keyValue);
    if (item[directive] === 'delete') {
      result = result.filter((other) => !matches(other));
      continue;
    }
    const index = result.findIndex(matches);
    const base = result[index];
    const merged = applyStrategicMergePatch(schema?.items, isObject(base) ? base : {}, item);
    if (index === -1) result.push(merged);
    else result[index] = merged;
  }
  return result;
}

/**
 * Items of the patch have the order of the patch. Other items keep their relative place: before the first
 * patched item that follows them in the live list.
 */
function inOrder(
  schema: Schema | undefined,
  items: readonly unknown[],
  live: readonly unknown[],
  order: readonly unknown[],
): unknown[] {
  const key = schema?.['x-kubernetes-patch-merge-key'];
  const keyOf = (item: unknown) =>
    JSON.stringify(key !== undefined && isObject(item) ? item[key] : item);
  const wanted = order.map(keyOf);
  const liveOrder = live.map(keyOf);
  const isNamed = (item: unknown) => wanted.includes(keyOf(item));
  const result = items
    .filter(isNamed)
    .sort((a, b) => wanted.indexOf(keyOf(a)) - wanted.indexOf(keyOf(b)));
  let position = 0;
  for (const item of items.filter((candidate) => !isNamed(candidate))) {
    const place = liveOrder.indexOf(keyOf(item));
    while (position < result.length && liveOrder.indexOf(keyOf(result[position])) <= place) {
      position += 1;
    }
    result.splice(position, 0, item);
    position += 1;
  }
  return result;
}

function withoutItems(current: unknown, items: unknown): unknown {
  if (!Array.isArray(current) || !Array.isArray(items)) return current;
  return current.filter((item) => !items.includes(item));
}

function retained(document: JsonObject, keys: unknown): JsonObject {
  if (!Array.isArray(keys)) return { ...document };
  return Object.fromEntries(Object.entries(document).filter(([name]) => keys.includes(name)));
}

const cleaned = (value: unknown) => (isObject(value) ? withoutDirectives(value) : value);

function withoutDirectives(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(([name, field]) => !name.startsWith('$') && field !== null),
  );
}
