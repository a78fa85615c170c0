import { setImmediate } from 'node:timers/promises';
import type { KubeObject } from '../object.ts';
import { apiVersionOf, storageResource, type ResourceDefinition } from '../resource-definition.ts';
import { ApiError } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import {
  encodeContinue,
  isSelected,
  type ListQuery,
  type Selection,
  selectsAll,
} from './list-query.ts';
import { serializeItem } from './serialize.ts';

export interface Page {
  readonly items: readonly KubeObject[];
  readonly metadata: ListMetadata;
}

export interface ListMetadata {
  readonly resourceVersion: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** One page of a list. A continued list keeps the version of its first page. */
export function listPage(
  store: ObjectStore,
  definition: ResourceDefinition,
  selection: Selection,
  query: ListQuery,
): Page {
  const version = query.continueFrom?.version ?? query.exactly ?? store.version;
  const newest = query.exactly ?? query.notOlderThan ?? 0;
  if (newest > store.version) throw tooLargeVersion(newest, store.version);
  const all = versionedList(store, definition, version, selection, query);
  const { after } = query.continueFrom ?? {};
  const rest = after === undefined ? all : all.filter((object) => keyOf(object) > after);
  const selected = selectsAll(selection)
    ? rest
    : rest.filter((object) => isSelected(definition, selection, object));
  const items = query.limit === undefined ? selected : selected.slice(0, query.limit);
  const last = items.at(-1);
  const remaining = selected.length - items.length;
  return {
    items,
    metadata: {
      resourceVersion: String(version),
      ...(remaining > 0 && last !== undefined
        ? { continue: encodeContinue({ version, after: keyOf(last) }) }
        : {}),
      ...(remaining > 0 && selectsAll(selection) ? { remainingItemCount: remaining } : {}),
    },
  };
}

const keyOf = ({ metadata }: KubeObject) => `${metadata.namespace ?? ''}/${metadata.name}`;

function versionedList(
  store: ObjectStore,
  definition: ResourceDefinition,
  version: number,
  { namespace }: Selection,
  query: ListQuery,
): readonly KubeObject[] {
  const resource = storageResource(definition);
  try {
    return store.listAt(resource, version, namespace);
  } catch (error) {
    if (!(error instanceof ApiError) || query.continueFrom === undefined) throw error;
    throw new ApiError(
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
    );
  }
}

/** The requested version is in the future. The client should retry soon. */
export function tooLargeVersion(asked: number, current: number): ApiError {
  return new ApiError('Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version', field: '' },
    ],
    retryAfterSeconds: 1,
  });
}

const itemsPerChunk = 200;

/** The list as JSON, in chunks. Other tasks run between the chunks. */
export async function* serializeList(
  definition: ResourceDefinition,
  isCustom: boolean,
  { items, metadata }: Page,
): AsyncGenerator<string> {
  // Lists of custom resources always contain `continue`.
  const shown = isCustom ? { continue: '', ...metadata } : metadata;
  const kind = definition.listKind ?? `${definition.kind}List`;
  yield `{"kind":"${kind}","apiVersion":"${apiVersionOf(definition)}","metadata":${JSON.stringify(shown)},"items":[`;
  for (let start = 0; start < items.length; start += itemsPerChunk) {
    const chunk = items
      .slice(start, start + itemsPerChunk)
      .map((item) => serializeItem(definition, item, isCustom));
    yield (start === 0 ? '' : ',') + chunk.join(',');
    await setImmediate();
  }
  yield ']}';
}
