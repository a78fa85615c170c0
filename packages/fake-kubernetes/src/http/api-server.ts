import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  startHttpServer,
  type HttpServer,
  type RequestLimits,
} from '@causeway/base/http/http-server';
import { type Clock, sleep } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { EmbeddedCluster } from '../cluster/embedded-cluster.ts';
import type { GroupResource } from '../resource-definition.ts';
import { ApiError } from '../status.ts';
import { asApiError } from './api-error.ts';
import { authenticate, authorize, type User } from './authentication.ts';
import type { Call, Reply } from './call.ts';
import { dispatch } from './dispatch.ts';
import { Documents } from './documents.ts';
import type { Fault, FaultHook } from './faults.ts';
import { parseResourcePath } from './request-info.ts';
import { callOf, isGroupServed, watchRequestOf } from './routing.ts';
import { isTrue } from './watch-query.ts';
import { WatchStream, type WatchTimes } from './watch-stream.ts';

export interface ApiServerOptions {
  readonly cluster: EmbeddedCluster;
  readonly clock: Clock;
  readonly log: Log;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  readonly certificate: string;
  readonly key: string;
  /** Signs the certificates of clients. */
  readonly clientAuthority: string;
  readonly tokens: ReadonlyMap<string, User>;
  readonly watchTimes: WatchTimes;
  readonly fault: FaultHook;
}

/** As long as a request may take with Node's defaults: tests stop and delay requests at will. */
const limits: RequestLimits = {
  headersMs: 60_000,
  requestMs: 300_000,
  keepAliveMs: 120_000,
  connections: Number.POSITIVE_INFINITY,
};

/** A watch whose client reads too slowly is cut once this much waits for it. */
const largestBacklog = 64 * 1024 * 1024;

/** The HTTPS side of the embedded API. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  #server: HttpServer | undefined;
  readonly #watches = new Set<WatchStream>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #documents: Documents | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = options;
  }

  /** Listens and answers the address, `127.0.0.1:6443`. */
  async listen(): Promise<string> {
    const { host, port, certificate, key, clientAuthority } = this.#options;
    this.#server = await startHttpServer({
      name: 'the embedded Kubernetes API',
      listen: { host, port },
      limits,
      tls: {
        cert: certificate,
        key,
        ca: clientAuthority,
        requestCert: true,
        // A client may prove its identity in another way than by a certificate.
        rejectUnauthorized: false,
      },
      handle: ({ request, response }) => {
        const work = this.#serve(request, response).finally(() => this.#inFlight.delete(work));
        this.#inFlight.add(work);
        return work;
      },
    });
    const { authority } = this.#server;
    this.#documents = new Documents(this.#options.cluster, authority);
    return authority;
  }

  /** Ends watches, all of them or those of one resource, in one of the ways a real server does. */
  endWatches(how: 'cleanly' | 'expired', resource?: GroupResource): void {
    for (const watch of this.#watches) {
      if (resource !== undefined && watch.resource !== resource) continue;
      if (how === 'cleanly') watch.end();
      else watch.fail(new ApiError('Expired', 'too old resource version: 1 (2)'));
    }
  }

  /** Cuts every connection where it stands. */
  cutConnections(): void {
    this.#server?.cutConnections();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.endWatches('cleanly');
    await this.#server?.close();
    await Promise.allSettled(this.#inFlight);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy());
    try {
      await this.#answer(request, response);
    } catch (error) {
      if (response.headersSent || this.#stopping.signal.aborted) response.destroy();
      else sendError(response, asApiError(error, this.#options.log));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { cluster, clock } = this.#options;
    const url = new URL(request.url ?? '/', 'https://localhost');
    const method = request.method ?? 'GET';
    const resource = parseResourcePath(url.pathname);
    const isWatch = method === 'GET' && isTrue(url.searchParams.get('watch'));
    const query = url.searchParams;
    const fault = this.#options.fault({ method, path: url.pathname, query, resource, isWatch });
    if (await this.#suffer(fault, request)) return;
    authorize(authenticate(request, this.#options.tokens), method, url.pathname);
    const document = resource === undefined ? this.#document(url.pathname, request) : undefined;
    if (document !== undefined) {
      if (method !== 'GET') throw new ApiError('MethodNotAllowed', 'only GET is allowed here');
      send(response, 200, document.body, document.contentType);
      return;
    }
    if (!isGroupServed(cluster, url.pathname)) {
      send(response, 404, '404 page not found\n', 'text/plain; charset=utf-8');
      return;
    }
    const call = callOf({ cluster, clock, resource, query, request });
    const { deprecation } = call.served.definition;
    if (deprecation !== undefined) response.setHeader('warning', warningHeader([deprecation]));
    if (isWatch && call.path.subresource === undefined) {
      this.#watch(call, response);
      return;
    }
    const answer = await dispatch(call);
    if (fault?.kind === 'drop-after') request.socket.destroy();
    else await sendReply(response, answer);
  }

  /** Whether the fault has taken care of the request. */
  async #suffer(fault: Fault | undefined, request: IncomingMessage): Promise<boolean> {
    switch (fault?.kind) {
      case 'delay':
        await sleep(this.#options.clock, fault.milliseconds, this.#stopping.signal);
        return false;
      case 'refuse':
        throw new ApiError(
          fault.reason,
          fault.message ?? 'refused by a fault',
          fault.retryAfterSeconds === undefined
            ? undefined
            : { retryAfterSeconds: fault.retryAfterSeconds },
        );
      case 'drop-before':
        request.socket.destroy();
        return true;
      case 'hang':
        return true;
      default:
        return false;
    }
  }

  #document(path: string, request: IncomingMessage) {
    return this.#documents?.get(
      path.length > 1 ? path.replace(/\/$/, '') : path,
      request.headers.accept,
    );
  }

  #watch(call: Call, response: ServerResponse): void {
    const watchRequest = watchRequestOf(call);
    response.writeHead(200, {
      'content-type': 'application/json',
      'cache-control': 'no-cache, private',
    });
    response.flushHeaders();
    const sink = {
      write: (line: string) => {
        response.write(line);
        if (response.writableLength > largestBacklog) response.destroy();
      },
      end: () => void response.end(),
    };
    const { clock, watchTimes } = this.#options;
    const watch = new WatchStream(call.cluster.store, clock, watchTimes, watchRequest, sink);
    this.#watches.add(watch);
    response.on('close', () => {
      this.#watches.delete(watch);
      watch.close();
    });
    response.cork();
    watch.start();
    response.uncork();
  }
}

function sendError(response: ServerResponse, error: ApiError): void {
  const { retryAfterSeconds } = error.details ?? {};
  if (retryAfterSeconds !== undefined) response.setHeader('retry-after', String(retryAfterSeconds));
  send(response, error.httpStatus, JSON.stringify(error.toStatus()));
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  contentType = 'application/json',
): void {
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-cache, private',
  });
  response.end(body);
}

const warningHeader = (texts: readonly string[]) =>
  texts.map((text) => `299 - ${JSON.stringify(text)}`);

async function sendReply(
  response: ServerResponse,
  { status, body, warnings }: Reply,
): Promise<void> {
  if (warnings !== undefined && warnings.length > 0) {
    const given = [response.getHeader('warning') ?? []].flat().map(String);
    response.setHeader('warning', [...given, ...warningHeader(warnings)]);
  }
  if (typeof body === 'string') {
    send(response, status, body);
    return;
  }
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-cache, private',
  });
  for await (const piece of body) {
    if (response.destroyed) return;
    if (!response.write(piece)) await drained(response);
  }
  response.end();
}

/** Waits until the client has read on, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
