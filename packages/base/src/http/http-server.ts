import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo, ListenOptions, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { CausewayError } from '../error/causeway-error.ts';
import { listen } from '../network/listen.ts';

export interface RequestLimits {
  /** The time limit for the headers of a request. */
  readonly headersMs: number;
  /** The time limit for a whole request. The answer may take longer. */
  readonly requestMs: number;
  /** How long an idle connection stays open. */
  readonly keepAliveMs?: number;
  /** The maximum number of open connections. The server closes further connections. */
  readonly connections: number;
  /** The interval at which the server checks the first two limits. */
  readonly checkEveryMs?: number;
}

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Fires when the client disconnects before the answer is complete, or at `abortRequests`. */
  readonly signal: AbortSignal;
}

export interface HttpServerOptions {
  /** The subject of the error if the address is not available: "can't serve NAME on PLACE". */
  readonly name: string;
  readonly hint?: string;
  readonly listen: ListenOptions;
  readonly limits: RequestLimits;
  readonly tls?: https.ServerOptions | undefined;
  readonly handle: (exchange: Exchange) => Promise<void> | void;
  /** Receives the error that `handle` throws. Without it, the answer is a plain 500. */
  readonly onFailure?: (error: unknown, exchange: Exchange) => void;
}

const nodeKeepAliveMs = 5_000;
const nodeCheckEveryMs = 30_000;

/** Starts an HTTP server, or an HTTPS server with `tls`. All servers of this project use it. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const server = new HttpServer(options);
  await server.listen(options);
  return server;
}

export class HttpServer {
  readonly #server: http.Server | https.Server;
  readonly #underWay = new Map<ServerResponse, AbortController>();
  #isClosing = false;

  constructor({ limits, tls, handle, onFailure = answerBare500 }: HttpServerOptions) {
    const settings = {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs ?? nodeKeepAliveMs,
      connectionsCheckingInterval: limits.checkEveryMs ?? nodeCheckEveryMs,
    };
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      const exchange = { request, response, signal: this.#follow(request, response) };
      if (this.#isClosing) answerStopping(exchange);
      else this.#run(exchange, handle, onFailure);
    };
    this.#server =
      tls === undefined
        ? http.createServer(settings, onRequest)
        : https.createServer(
            { ...settings, handshakeTimeout: limits.headersMs, ...tls },
            onRequest,
          );
    this.#server.maxConnections = limits.connections;
  }

  async listen({ listen: where, name, hint }: HttpServerOptions): Promise<void> {
    try {
      await listen(this.#server, where);
    } catch (cause) {
      const { message } = CausewayError.from(cause);
      const port = where.host === undefined ? `port ${where.port}` : `${where.host}:${where.port}`;
      const place = where.path ?? port;
      throw new CausewayError('unavailable', `can't serve ${name} on ${place}: ${message}`, {
        cause,
        hint: hint ?? 'Another process may hold the port; choose another one.',
      });
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `127.0.0.1:8080` or `[::1]:8080`. */
  get authority(): string {
    const { address, family, port } = this.#server.address() as AddressInfo;
    return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Without a slash at the end. */
  get url(): string {
    return `${this.#server instanceof https.Server ? 'https' : 'http'}://${this.authority}`;
  }

  get requestsUnderWay(): number {
    return this.#underWay.size;
  }

  /** Uses other certificates for new connections. */
  setTls(tls: SecureContextOptions): void {
    if (this.#server instanceof https.Server) this.#server.setSecureContext(tls);
  }

  /** Fires the signal of each running request. */
  abortRequests(reason: CausewayError): void {
    for (const controller of this.#underWay.values()) controller.abort(reason);
  }

  /** Closes every connection at once. The server continues to listen. */
  cutConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Accepts no more connections or requests, and resolves when the running requests have ended. */
  drain(): Promise<void> {
    this.#isClosing = true;
    for (const response of this.#underWay.keys()) {
      if (!response.headersSent) response.setHeader('connection', 'close');
    }
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeIdleConnections();
    });
  }

  /** Stops at once. Running requests lose their connections. */
  async close(): Promise<void> {
    const drained = this.drain();
    this.cutConnections();
    await drained;
  }

  #follow({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
    const controller = new AbortController();
    this.#underWay.set(response, controller);
    response.once('close', () => {
      this.#underWay.delete(response);
      if (!response.writableFinished) controller.abort();
      if (this.#isClosing && !this.#isAnswering(socket)) socket.destroySoon();
    });
    return controller.signal;
  }

  #isAnswering(socket: Socket): boolean {
    return this.#underWay.keys().some(({ req }) => req.socket === socket);
  }

  #run(
    exchange: Exchange,
    handle: HttpServerOptions['handle'],
    onFailure: (error: unknown, exchange: Exchange) => void,
  ): void {
    const work = async () => {
      await handle(exchange);
    };
    work()
      .catch((error: unknown) => onFailure(error, exchange))
      .catch(() => exchange.response.destroy());
  }
}

export interface TextAnswer {
  readonly status: number;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body: string | Buffer;
}

/** Sends a complete answer. An answer to HEAD has headers only. */
export function sendAnswer({ request, response }: Exchange, answer: TextAnswer): void {
  response.writeHead(answer.status, {
    ...answer.headers,
    'content-length': Buffer.byteLength(answer.body),
  });
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}

function answerBare500(_error: unknown, { response }: Exchange): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(500).end();
}

function answerStopping(exchange: Exchange): void {
  const problem = {
    code: 'unavailable',
    message: 'this server is stopping',
    hint: 'Send the request again.',
  };
  sendAnswer(exchange, {
    status: 503,
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: `${JSON.stringify(problem)}\n`,
  });
}
