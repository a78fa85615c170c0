import { isObject } from '../object.ts';

/** Applies an RFC 7386 patch: nulls remove, objects merge, all other values replace. */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result = isObject(document) ? { ...document } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = applyMergePatch(result[name], value);
  }
  return result;
}
