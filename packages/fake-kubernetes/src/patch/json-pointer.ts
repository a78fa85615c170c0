import { isObject } from '../object.ts';

/** The unescaped steps of an RFC 6901 pointer, or undefined if the pointer is invalid. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) return undefined;
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at the steps, or undefined if it doesn't exist. */
export function valueAt(root: unknown, steps: readonly string[]): unknown {
  let current = root;
  for (const step of steps) {
    if (Array.isArray(current))
      current = /^(0|[1-9]\d*)$/.test(step) ? current[Number(step)] : undefined;
    else if (isObject(current)) current = Object.hasOwn(current, step) ? current[step] : undefined;
    else return undefined;
  }
  return current;
}
