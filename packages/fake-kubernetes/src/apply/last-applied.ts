import { isObject, type JsonObject, type KubeObject } from '../object.ts';
import type { Schema } from '../schema-type.ts';
import { difference, emptySet, type FieldSet, union } from './field-set.ts';
import { compare, fieldsOf } from './typed-value.ts';

/** Where client-side apply keeps what it applied last. */
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The one manager that takes over from client-side apply. */
export const upgradingManager = 'kubectl';

/**
 * The fields that client-side apply set and that are still as it left them. Server-side apply by
 * kubectl may take these over from whoever owns them, or moving from the one to the other would
 * conflict with itself.
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

/** Client-side apply would undo what was applied since, so its annotation follows along. */
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
