import { isDeepStrictEqual } from 'node:util';

/** The merge patch (RFC 7386) that turns one value into the other; undefined when they are the same. */
export function mergePatch(before: object, after: object): Record<string, unknown> | undefined {
  const old = before as Readonly<Record<string, unknown>>;
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined || isDeepStrictEqual(old[key], value)) continue;
    patch[key] = isPlain(value) && isPlain(old[key]) ? mergePatch(old[key], value) : value;
  }
  for (const key of Object.keys(old)) {
    if (old[key] !== undefined && !(key in after)) patch[key] = null;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
