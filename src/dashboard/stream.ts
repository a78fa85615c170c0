import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, createGzip, type Gzip } from 'node:zlib';
import type { Board } from '../overview/board.ts';
import type { RowChanges } from '../overview/rows.ts';

/** A page that reads this much slower than things change is let go; its browser comes again by itself. */
const mostBufferedBytes = 32 * 1024 * 1024;
/** Rows of the first message come in parts, so that no line is larger than a browser likes. */
const rowsInMessage = 2_000;

/** Server-sent events: every row first, and then what changes. */
export function streamChanges(
  board: Board,
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
  const packed = accepts ? createGzip({ level: 1 }) : undefined;
  packed?.pipe(response);
  const out: Gzip | ServerResponse = packed ?? response;
  const write = (event: string, data: unknown) => {
    out.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  let isFirst = true;
  const stop = board.listen((changes) => {
    if (isFirst) for (const part of inParts(changes)) write('rows', part);
    else write('rows', changes);
    if (isFirst) write('complete', {});
    isFirst = false;
    packed?.flush(constants.Z_SYNC_FLUSH);
    if (response.writableLength + (packed?.writableLength ?? 0) > mostBufferedBytes) {
      response.destroy();
    }
  });
  response.once('close', () => {
    stop();
    packed?.destroy();
  });
}

function* inParts({ set, removed }: RowChanges): Generator<RowChanges> {
  const { service = [], ...rest } = set;
  yield { set: rest, removed };
  for (let start = 0; start < service.length; start += rowsInMessage) {
    yield { set: { service: service.slice(start, start + rowsInMessage) }, removed: {} };
  }
}
