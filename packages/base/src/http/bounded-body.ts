import type { Readable } from 'node:stream';

/** Collects a body up to the limit. Rejects a larger body before it is in memory. */
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

/** The chunks of a request. If the reader stops early, the connection stays open for the answer. */
export async function* chunksOf(request: Readable): AsyncGenerator<Buffer> {
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  // `yield*` would pass an error of the reader to the request and destroy it.
  for await (const chunk of chunks) yield chunk;
}
