import { isObject, type JsonObject, type KubeObject } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { difference, emptySet, type FieldSet, union } from './field-set.ts';
import { compare, fieldsOf } from './typed-value.ts';

/** Annotation in which client-side apply stores the last applied configuration. */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The only manager that takes over fields from client-side apply. */
export const upgradingManager = 'kubectl';

/**
 * Fields that client-side apply set and that have not changed since. Server-side apply by kubectl can take
 * these fields over from any owner. Otherwise, the migration from client-side to server-side apply would
 * cause a conflict.
 */
export function takeableFields(schema: Schema | undefined, live: KubeObject): FieldSet {
  const last = lastApplied(live);
  if (last === undefined) return emptySet;
  const { modified, removed } = compare(schema, last, live);
  return difference(fieldsOf(schema, last), union(modified, removed));
}

function lastApplied(live: KubeObject): JsonObject | undefined {
  const text = live.metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Updates the annotation of client-side apply. With an outdated annotation, client-side apply would revert
 * newer changes.
 */
export function updateLastApplied(draft: KubeObject, config: JsonObject): void {
  if (draft.metadata.annotations?.[annotation] === undefined) return;
  draft.metadata.annotations[annotation] = `${JSON.stringify(sorted(config))}\n`;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, field]) => [name, sorted(field)]),
  );
}
