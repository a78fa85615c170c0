import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { LineSplitter } from '@causeway/base/text/line-splitter';
import { chunksOf, readBounded } from '@causeway/base/http/bounded-body';

/** Limits for reading a request. A larger request is rejected before it is in memory. */
export interface BodyLimits {
  /** After decompression. */
  readonly totalBytes: number;
  readonly lineBytes: number;
}

/** A request that exceeds the agent's limits. */
export class BodyTooLarge extends CausewayError {
  constructor(what: string, limit: number) {
    super('invalid', `${what} is larger than ${limit} bytes`, {
      hint: "The agent's settings define the limit.",
    });
  }
}

/** A request in a format that this agent doesn't support. */
export class UnsupportedMedia extends CausewayError {
  constructor(what: string) {
    super('unsupported', what);
  }
}

/**
 * Passes a body on line by line, decompressed, and returns the digest of the bytes as sent. Memory holds one
 * line, independent of the body's size.
 */
export async function readLines(
  body: Readable,
  encoding: string,
  limits: BodyLimits,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256');
  const hashed = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      hash.update(chunk);
      yield chunk;
    }
  };
  const split = async (source: AsyncIterable<Buffer>) => {
    const splitter = new LineSplitter({
      bytes: limits.lineBytes,
      tooLong: () => new BodyTooLarge('a line of the request', limits.lineBytes),
    });
    let total = 0;
    for await (const chunk of source) {
      total += chunk.length;
      if (total > limits.totalBytes) throw new BodyTooLarge('the request', limits.totalBytes);
      for (const line of splitter.push(chunk)) onLine(line);
    }
    const last = splitter.end();
    if (last !== undefined) onLine(last);
  };
  try {
    const decompress = decompressor(encoding);
    const source = Readable.from(chunksOf(body), { objectMode: false });
    if (decompress === undefined) await pipeline(source, hashed, split, { signal });
    else await pipeline(source, hashed, decompress, split, { signal });
  } catch (error) {
    if (error instanceof CausewayError) throw error;
    throw new CausewayError('invalid', "the request's body can't be read", { cause: error });
  }
  return hash.digest('base64url');
}

function decompressor(encoding: string) {
  switch (encoding) {
    case 'identity':
      return undefined;
    case 'gzip':
      return createGunzip();
    case 'zstd':
      return createZstdDecompress();
    default:
      throw new UnsupportedMedia('the body is compressed, but not with gzip or zstd');
  }
}

/** A complete small body. */
export function readSmallBody(body: Readable, limit: number): Promise<Buffer> {
  return readBounded(chunksOf(body), limit, () => new BodyTooLarge('the request', limit));
}
