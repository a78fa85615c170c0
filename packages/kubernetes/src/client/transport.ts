import type { RequestHeaders } from '../credentials/credentials.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface TransportRequest {
  readonly method: Method;
  /** Absolute, with the query: `/api/v1/services?limit=500`. */
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly body?: string;
  /** A watch, which keeps its connection for minutes. */
  readonly isLong: boolean;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read it to its end, or return early, which ends the exchange. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * Carries requests to an API server: over HTTP to a real one (`HttpTransport`), or within the process to a
 * fake one, where a simulation decides when answers arrive.
 */
export interface Transport {
  send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse>;
  close(): Promise<void>;
}

export async function readBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const [only] = chunks;
  const whole =
    chunks.length === 1 && only !== undefined
      ? Buffer.from(only.buffer, only.byteOffset, only.byteLength)
      : Buffer.concat(chunks);
  return whole.toString('utf8');
}
