import { isObject } from '../object.ts';

/** Deep equality as in the API server: the order of keys doesn't matter, the order of items does. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    const others: readonly unknown[] = right;
    return left.length === others.length && left.every((item, i) => jsonEqual(item, others[i]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key], right[key]));
}

/** Canonical text of a value: JSON with sorted keys. Equal values have equal texts. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (isObject(value)) {
    const members = Object.keys(value)
      .filter((key) => value[key] !== undefined)
      .sort()
      .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`);
    return `{${members.join(',')}}`;
  }
  return value === undefined ? 'null' : JSON.stringify(value);
}

/** Whether the value is an array. Unlike `Array.isArray`, it keeps the items `unknown`. */
export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
