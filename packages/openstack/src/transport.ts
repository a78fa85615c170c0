import { Agent, type Dispatcher } from '@causeway/base/http/http-client';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { untilAborted } from '@causeway/base/time/until-aborted';
import type { TlsConfig } from './config/cloud-config.ts';
import type { Outcome } from './error.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

export interface HttpRequest {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
  /** Releases a body that is not read. */
  discard(): Promise<void>;
}

/** No answer arrived. `outcome` says whether the request may have reached the service. */
export class TransportError extends CausewayError {
  readonly outcome: Outcome;

  constructor(message: string, outcome: Outcome, details: { cause: unknown; hint?: string }) {
    super('unavailable', message, details);
    this.outcome = outcome;
  }
}

/** Carries requests to a cloud: over HTTP (`Transport`), or within a simulation. */
export interface RequestCarrier {
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

/** HTTP to one cloud: its certificates and connections, nothing specific to OpenStack. */
export class Transport implements RequestCarrier {
  readonly #kept: Agent;
  readonly #fresh: Agent;

  constructor(tls: TlsConfig, connections: number) {
    const options = {
      connections,
      // The caller sets deadlines; a slow service is not an unavailable one.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: connectTimeoutMs,
        rejectUnauthorized: tls.verify,
        ...(tls.certificateAuthorities === undefined ? {} : { ca: tls.certificateAuthorities }),
        ...(tls.clientCertificate === undefined
          ? {}
          : {
              cert: tls.clientCertificate.certificate,
              key: tls.clientCertificate.key.reveal(),
            }),
      },
    };
    this.#kept = new Agent(options);
    // Without pipelining undici closes a connection after its one request.
    this.#fresh = new Agent({ ...options, pipelining: 0 });
  }

  /**
   * A POST gets its own connection. On a kept connection it could meet a server that has just closed it
   * (uWSGI closes without notice), and it would be unknown whether the server had read it.
   */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const url = new URL(request.url);
    const agent = request.method === 'POST' ? this.#fresh : this.#kept;
    try {
      const answer = agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: request.signal,
      });
      // undici handles an abort only once the request has a connection, which may take longer than its
      // deadline.
      const response = await untilAborted(answer, request.signal);
      return asHttpResponse(response, url);
    } catch (error) {
      throw transportError(error, url, request.signal);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#kept.destroy(), this.#fresh.destroy()]);
  }
}

const connectTimeoutMs = 10_000;

function asHttpResponse(response: Dispatcher.ResponseData, url: URL): HttpResponse {
  return {
    status: response.statusCode,
    header(name) {
      const value = response.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: readBody(response.body, url),
    discard: () => response.body.dump(),
  };
}

async function* readBody(body: AsyncIterable<unknown>, url: URL): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    throw transportError(error, url);
  }
}

/** Failures before the connection was established, so no byte of the request was sent. */
const notSentCodes = new Set([
  'ECONNREFUSED',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const certificateCode = /^(?:CERT_|DEPTH_ZERO_|ERR_TLS_CERT|SELF_SIGNED|UNABLE_TO_)/;

function transportError(error: unknown, url: URL, signal?: AbortSignal): CausewayError {
  if (signal?.aborted === true) {
    const reason: unknown = signal.reason;
    return reason instanceof CausewayError
      ? reason
      : new CausewayError('aborted', 'the request was aborted', { cause: reason });
  }
  const code = errorCode(error);
  const said = error instanceof Error && error.message !== '' ? error.message : code;
  if (certificateCode.test(code)) {
    return new TransportError(
      `the certificate of ${url.origin} is not trusted: ${said}`,
      'not-sent',
      {
        // Node's own error contains the whole certificate; the message is enough for a log.
        cause: undefined,
        hint: "Configure the cloud's certificate authority (cacert, OS_CACERT, certificateAuthorityData).",
      },
    );
  }
  const outcome = notSentCodes.has(code) ? 'not-sent' : 'unknown';
  return new TransportError(`no answer from ${url.origin}: ${said}`, outcome, { cause: error });
}

/** Node wraps the failures of a name with several addresses into one error. */
function errorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return errorCode(error.errors[0]);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string')
    return error.code;
  return error instanceof Error && error.cause !== undefined ? errorCode(error.cause) : 'unknown';
}
