import { Agent, ProxyAgent, type Dispatcher } from '@causeway/base/http/http-client';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import { untilAborted } from '@causeway/base/time/until-aborted';
import type { Connection } from './connection.ts';
import { MaterialReader, type Credentials } from '../credentials/credentials.ts';
import { dispatchStreamed } from './streamed-body.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** Calls beyond this limit wait for a connection; each watch has its own. */
const callConnections = 32;
const connectTimeoutMs = 10_000;
/** Shorter than the idle limits of API servers and their load balancers, so that the client closes first. */
const idleConnectionMs = 20_000;
/**
 * After this idle time the kernel probes the peer each second, and closes the connection after ten failures:
 * 25 s in all.
 */
const probeAfterMs = 15_000;

interface Dispatchers {
  /** Identity of the TLS sessions; when it changes, new ones are opened. */
  readonly identity: string;
  readonly calls: Dispatcher;
  readonly watches: Dispatcher;
}

/**
 * HTTP/1.1 with keep-alive. HTTP/2 would put all watches on one connection, where a slow reader or one lost
 * packet blocks all.
 */
export class HttpTransport implements Transport {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #authority: MaterialReader;
  readonly #retired = new Set<Dispatchers>();
  #dispatchers: Dispatchers | undefined;

  constructor(connection: Connection, clock: Clock) {
    const url = new URL(connection.server);
    this.#connection = connection;
    this.#clock = clock;
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/$/, '');
    this.#authority = new MaterialReader(clock);
  }

  async send(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    const response = await this.#sendOnce(request, signal);
    if (response.status !== 401) return response;
    // The credentials may have been rotated: try once more with the current ones.
    this.#connection.credentials.refused();
    for await (const _ of response.body) continue;
    return this.#sendOnce(request, signal);
  }

  async #sendOnce(request: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    const credentials = await this.#connection.credentials.current(signal);
    const dispatchers = await this.#dispatchersFor(credentials);
    const dispatcher = request.isLong ? dispatchers.watches : dispatchers.calls;
    const options = {
      origin: this.#origin,
      path: `${this.#basePath}${request.path}`,
      method: request.method,
      headers: { ...request.headers, ...credentials.headers },
      ...(request.body === undefined ? {} : { body: request.body }),
      // The caller sets deadlines: it has the clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    if (request.isLong) return dispatchStreamed(dispatcher, options, this.#clock, signal);
    // undici handles an abort only once the request has a connection, which may take longer than its
    // deadline.
    const answer = await untilAborted(dispatcher.request({ ...options, signal }), signal);
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  }

  async #dispatchersFor(credentials: Credentials): Promise<Dispatchers> {
    const { certificateAuthority } = this.#connection;
    const ca =
      certificateAuthority === undefined
        ? undefined
        : await this.#authority.read(certificateAuthority, 'certificate authority');
    const certificate = credentials.clientCertificate;
    const identity = JSON.stringify([ca, certificate]);
    const known = this.#dispatchers;
    if (known?.identity === identity) return known;
    const tls = {
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    };
    const fresh = {
      identity,
      calls: this.#open(tls, callConnections),
      watches: this.#open(tls, null),
    };
    this.#dispatchers = fresh;
    if (known !== undefined) this.#retire(known);
    return fresh;
  }

  #open(tls: object, connections: number | null): Dispatcher {
    const { tlsServerName, insecureSkipTlsVerify, proxyUrl } = this.#connection;
    const socket = {
      timeout: connectTimeoutMs,
      keepAlive: true,
      keepAliveInitialDelay: probeAfterMs,
    };
    const connect = {
      ...tls,
      ...socket,
      rejectUnauthorized: !insecureSkipTlsVerify,
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
    };
    const options = {
      allowH2: false,
      connections,
      pipelining: 1,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: idleConnectionMs,
    };
    if (proxyUrl === undefined) return new Agent({ ...options, connect });
    if (!URL.canParse(proxyUrl)) {
      throw new CausewayError('invalid', 'the proxy URL of the cluster is not a URL');
    }
    return new ProxyAgent({
      ...options,
      uri: proxyUrl,
      requestTls: connect,
      proxyTls: socket,
      connectTimeout: connectTimeoutMs,
    });
  }

  /** Requests with the old certificate run to their end. */
  #retire(old: Dispatchers): void {
    this.#retired.add(old);
    const drop = () => this.#retired.delete(old);
    Promise.all([old.calls.close(), old.watches.close()]).then(drop, drop);
  }

  async close(): Promise<void> {
    const all = [...this.#retired, ...(this.#dispatchers === undefined ? [] : [this.#dispatchers])];
    this.#dispatchers = undefined;
    await Promise.all(all.flatMap(({ calls, watches }) => [calls.destroy(), watches.destroy()]));
  }
}
