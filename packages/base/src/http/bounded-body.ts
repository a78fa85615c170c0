import type { Readable } from 'node:stream';

/** Collects a body of at most so many bytes. A larger body is refused before it is held in memory. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limitBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The chunks of a request. A reader that stops early leaves the connection open for the answer. */
export async function* chunksOf(request: Readable): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  // Not `yield*`: that would pass the error of a reader on to the request, which would end with it.
  for await (const chunk of chunks) yield chunk;
}
