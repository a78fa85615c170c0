import { type Cause, invalidOptions } from '../status.ts';
import { parseCount, parseVersion } from './list-query.ts';

export interface WatchQuery {
  /** Starts after this version. With undefined or 0, starts with all existing objects. */
  readonly after: number | undefined;
  readonly bookmarks: boolean;
  /** Whether to send existing objects first, followed by an annotated bookmark. */
  readonly sendInitialEvents: boolean;
  readonly timeoutSeconds: number | undefined;
}

export function parseWatchQuery(query: URLSearchParams): WatchQuery {
  const causes = checkInitialEvents(query);
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
  return {
    after: parseVersion(query.get('resourceVersion') ?? ''),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: isTrue(query.get('sendInitialEvents')),
    timeoutSeconds: parseCount(query.get('timeoutSeconds')),
  };
}

export const isTrue = (text: string | null): boolean => text === 'true' || text === '1';

function checkInitialEvents(query: URLSearchParams): Cause[] {
  const match = query.get('resourceVersionMatch') ?? '';
  const forbidden = (why: string): Cause => ({
    reason: 'FieldValueForbidden',
    message: `Forbidden: ${why}`,
    field: 'resourceVersionMatch',
  });
  if (!query.has('sendInitialEvents')) {
    return match === ''
      ? []
      : [
          forbidden(
            'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
          ),
        ];
  }
  if (match === '') {
    return [forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')];
  }
  if (match === 'NotOlderThan') return [];
  return [
    {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "NotOlderThan"`,
      field: 'resourceVersionMatch',
    },
  ];
}
