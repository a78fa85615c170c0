import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { RowStore } from '../overview/row-store.ts';
import type { ServicePath } from '../overview/rows.ts';
import { limitRequests } from '@causeway/base/http/http-limits';
import type { Log } from '@causeway/base/observability/log';
import type { Asset } from './assets.ts';
import { streamChanges } from './stream.ts';
import { isToken, toCookie, tokenOf } from './token.ts';

export interface DashboardServerOptions {
  /** `*` is every address, of both families where there are two. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly token: string;
  readonly rowStore: RowStore;
  readonly assets: ReadonlyMap<string, Asset>;
  readonly log: Log;
  findPath(namespace: string, name: string, signal: AbortSignal): Promise<ServicePath | undefined>;
}

export interface DashboardServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Nothing is loaded from elsewhere, nothing may frame the pages, and nothing learns the address. */
const securityHeaders = {
  'content-security-policy':
    "default-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

const everyAddress = '*';
const compress = promisify(gzip);
const compressFrom = 1024;
const pathLimitMs = 10_000;

/** Serves the pages, the rows as they change, and the path of a Service. Reading only. */
export async function startDashboard(options: DashboardServerOptions): Promise<DashboardServer> {
  const server = http.createServer((request, response) => {
    answer(options, request, response).catch((thrown: unknown) => {
      const error = CausewayError.from(thrown);
      options.log.warn({ error, path: request.url?.split('?')[0] }, 'a page could not be served');
      if (!response.headersSent) reply(response, 500, 'Something went wrong; the log says what.');
      else response.destroy();
    });
  });
  limitRequests(server, { headersMs: 10_000, requestMs: 30_000, connections: 512 });
  await listen(server, options.host, options.port);
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  options: DashboardServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://dashboard');
  if (url === null) {
    reply(response, 400, 'That is no address of a page.');
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    reply(response, 405, 'The dashboard only shows; it changes nothing.');
    return;
  }
  const { token, isFirst } = tokenOf(request, url);
  if (!isToken(token, options.token)) {
    reply(
      response,
      401,
      'The dashboard needs its token: open the address that was printed at the start, with ?token= in it.',
    );
    return;
  }
  if (isFirst) {
    url.searchParams.delete('token');
    response.writeHead(303, {
      ...securityHeaders,
      'set-cookie': `${toCookie(token)}; HttpOnly; SameSite=Strict; Path=/`,
      // One slash only: two would lead to another machine.
      location: url.pathname.replace(/^\/+/, '/'),
    });
    response.end();
    return;
  }
  await serve(options, url, request, response);
}

async function serve(
  options: DashboardServerOptions,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (url.pathname === '/api/rows') {
    streamChanges(options.rowStore, request, response, securityHeaders);
    return;
  }
  if (url.pathname === '/api/path') {
    await servePath(options, url, request, response);
    return;
  }
  const asset = options.assets.get(url.pathname);
  if (asset === undefined) reply(response, 404, 'There is no such page.');
  else await send(request, response, 200, asset.type, asset.body);
}

async function servePath(
  options: DashboardServerOptions,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [namespace = '', name = ''] = (url.searchParams.get('service') ?? '').split('/');
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(pathLimitMs)]);
  const path = await options.findPath(namespace, name, signal);
  if (path === undefined) reply(response, 404, 'There is no such Service.');
  else {
    const body = Buffer.from(JSON.stringify(path));
    await send(request, response, 200, 'application/json', body);
  }
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  body: Buffer,
): Promise<void> {
  const accepts = (request.headers['accept-encoding'] ?? '').includes('gzip');
  const isCompressed = accepts && body.length >= compressFrom;
  const bytes = isCompressed ? await compress(body) : body;
  response.writeHead(status, {
    ...securityHeaders,
    'content-type': type,
    'content-length': bytes.length,
    ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

function reply(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...securityHeaders, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

function listen(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new CausewayError(
          'unavailable',
          `can't serve the dashboard on ${host}:${port}: ${cause.message}`,
          { cause, hint: 'Another process may hold the port; choose another one.' },
        ),
      ),
    );
    server.listen({ port, ...(host === everyAddress ? {} : { host }) }, resolve);
  });
}
