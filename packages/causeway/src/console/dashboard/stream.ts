import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { RowStore } from '../overview/row-store.ts';
import type { RowChanges } from '../overview/rows.ts';

/** A page that reads too slowly is disconnected at this size; its browser reconnects automatically. */
const mostBufferedBytes = 32 * 1024 * 1024;
/** The first rows are sent in parts, so that no line is too large for a browser. */
const rowsInMessage = 2_000;
/** More than a screen shows: a page is painted with these before the rest arrives. */
const rowsInFirstMessage = 100;

/** Server-sent events: first every row, then the changes. */
export function streamChanges(
  rowStore: RowStore,
  request: IncomingMessage,
  response: ServerResponse,
  headers: OutgoingHttpHeaders,
): void {
  const accepts = (request.headers['accept-encoding'] ?? '').includes('gzip');
  response.writeHead(200, {
    ...headers,
    'content-type': 'text/event-stream',
    ...(accepts ? { 'content-encoding': 'gzip' } : {}),
  });
  const compressed = accepts ? createGzip({ level: 1 }) : undefined;
  compressed?.pipe(response);
  const out: Gzip | ServerResponse = compressed ?? response;
  const write = (event: string, data: unknown) => {
    out.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const flush = () => compressed?.flush(constants.Z_SYNC_FLUSH);
  /** Changes that arrive while the first rows are being sent; undefined afterwards. */
  let waiting: RowChanges[] | undefined = [];
  /** Sends one part at a time, so that the first is sent before the next is made. */
  const sendParts = (parts: Iterator<RowChanges, undefined>) => {
    if (response.destroyed) return;
    const { done, value } = parts.next();
    if (done === true) {
      write('complete', {});
      for (const changes of waiting ?? []) write('rows', changes);
      waiting = undefined;
    } else {
      write('rows', value);
      setImmediate(() => sendParts(parts));
    }
    flush();
  };
  let isFirst = true;
  const stop = rowStore.listen((changes) => {
    if (isFirst) sendParts(inParts(changes));
    else if (waiting !== undefined) waiting.push(changes);
    else {
      write('rows', changes);
      flush();
    }
    isFirst = false;
    if (response.writableLength + (compressed?.writableLength ?? 0) > mostBufferedBytes) {
      response.destroy();
    }
  });
  response.once('close', () => {
    stop();
    compressed?.destroy();
  });
}

function* inParts({ set, removed }: RowChanges): Generator<RowChanges, undefined> {
  const { service = [], ...rest } = set;
  // In display order.
  const sorted = service.toSorted((left, right) => (left.key < right.key ? -1 : 1));
  yield { set: { ...rest, service: sorted.slice(0, rowsInFirstMessage) }, removed };
  for (let start = rowsInFirstMessage; start < sorted.length; start += rowsInMessage) {
    yield { set: { service: sorted.slice(start, start + rowsInMessage) }, removed: {} };
  }
  return undefined;
}
