import { KubeError } from '../client/error.ts';
import { withoutManagedFields } from './managed-fields.ts';
import type { KubeObject } from '../objects/object.ts';
import { readStatus } from '../client/read-status.ts';

export interface WatchEvent<T extends KubeObject = KubeObject> {
  /** A bookmark carries only a newer resource version to resume from. */
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

const types = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/**
 * Parses one line of a watch, without managed fields. An error inside the stream is thrown like an error
 * answer.
 */
export function parseWatchEvent<T extends KubeObject>(what: string, line: string): WatchEvent<T> {
  let event: { readonly type?: string; readonly object?: unknown } | null;
  try {
    event = JSON.parse(withoutManagedFields(line)) as typeof event;
  } catch (cause) {
    throw new KubeError('unavailable', `${what}: a line of the watch is not JSON`, { cause });
  }
  if (event?.type === 'ERROR') {
    const status = readStatus(event.object);
    throw KubeError.fromStatus(what, status?.code ?? 500, status);
  }
  if (event?.type === undefined || !types.has(event.type) || !isObject(event.object)) {
    throw new KubeError('unavailable', `${what}: a line of the watch is not an event`);
  }
  return event as WatchEvent<T>;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The bookmark after the initial events of a streamed list. */
export function endsInitialEvents(event: WatchEvent): boolean {
  return (
    event.type === 'BOOKMARK' &&
    event.object.metadata?.annotations?.['k8s.io/initial-events-end'] === 'true'
  );
}
