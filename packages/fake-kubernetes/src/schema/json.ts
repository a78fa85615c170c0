import { isObject } from '../object.ts';

/** Deep equality as the API server sees it: the order of keys does not matter, that of items does. */
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

/** A text that two values share exactly when they are equal: JSON with sorted keys. */
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

/** Whether the value is an array, without losing that nothing is known about its items. */
export function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
