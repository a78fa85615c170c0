import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { RowStore } from '../overview/row-store.ts';
import type { RowChanges } from '../overview/rows.ts';

/** A page that reads this much slower than things change is let go; its browser comes again by itself. */
const mostBufferedBytes = 32 * 1024 * 1024;
/** Rows of the first message come in parts, so that no line is larger than a browser likes. */
const rowsInMessage = 2_000;
/** More than a screen shows: with these a page is painted before the rest has come. */
const rowsInFirstMessage = 100;

/** Server-sent events: every row first, and then what changes. */
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
  /** What has changed while the first rows are still being told; undefined once they are. */
  let waiting: RowChanges[] | undefined = [];
  /** One part at a time, so that the first one is on its way before the next is made. */
  const tell = (parts: Iterator<RowChanges, undefined>) => {
    if (response.destroyed) return;
    const { done, value } = parts.next();
    if (done === true) {
      write('complete', {});
      for (const changes of waiting ?? []) write('rows', changes);
      waiting = undefined;
    } else {
      write('rows', value);
      setImmediate(() => tell(parts));
    }
    flush();
  };
  let isFirst = true;
  const stop = rowStore.listen((changes) => {
    if (isFirst) tell(inParts(changes));
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
  // In the order in which they are shown.
  const sorted = service.toSorted((left, right) => (left.key < right.key ? -1 : 1));
  yield { set: { ...rest, service: sorted.slice(0, rowsInFirstMessage) }, removed };
  for (let start = rowsInFirstMessage; start < sorted.length; start += rowsInMessage) {
    yield { set: { service: sorted.slice(start, start + rowsInMessage) }, removed: {} };
  }
  return undefined;
}
