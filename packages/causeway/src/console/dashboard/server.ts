import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { RowStore } from '../overview/row-store.ts';
import type { ServicePath } from '../overview/rows.ts';
import { sendAnswer, startHttpServer, type Exchange } from '@causeway/base/http/http-server';
import type { Log } from '@causeway/base/observability/log';
import type { Asset } from './assets.ts';
import { streamChanges } from './stream.ts';
import { isToken, toCookie, tokenOf } from './token.ts';

export interface DashboardServerOptions {
  /** `*` means every address, of both families if available. */
  readonly host: string;
  /** 0 selects a free port. */
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

/** No external content, no framing of the pages, and no referrer. */
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

/** Serves the pages, the rows with their changes, and the path of a Service. Read only. */
export async function startDashboard(options: DashboardServerOptions): Promise<DashboardServer> {
  const { host, port } = options;
  const server = await startHttpServer({
    name: 'the dashboard',
    listen: host === everyAddress ? { port } : { port, host },
    limits: { headersMs: 10_000, requestMs: 30_000, connections: 512 },
    handle: (exchange) => answer(options, exchange),
    onFailure(thrown, exchange) {
      const error = CausewayError.from(thrown);
      const path = exchange.request.url?.split('?')[0];
      options.log.warn({ error, path }, 'a page could not be served');
      if (exchange.response.headersSent) exchange.response.destroy();
      else reply(exchange, 500, 'An internal error occurred; the log has the details.');
    },
  });
  return { url: `${server.url}/`, close: () => server.close() };
}

async function answer(options: DashboardServerOptions, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const url = URL.parse(request.url ?? '/', 'http://dashboard');
  if (url === null) {
    reply(exchange, 400, 'The path of the page is invalid.');
    return;
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    reply(exchange, 405, 'The dashboard is read only.');
    return;
  }
  const { token, isFirst } = tokenOf(request, url);
  if (!isToken(token, options.token)) {
    reply(
      exchange,
      401,
      'The dashboard requires its token: open the address that was printed at the start, with ?token= in it.',
    );
    return;
  }
  if (isFirst) {
    url.searchParams.delete('token');
    response.writeHead(303, {
      ...securityHeaders,
      'set-cookie': `${toCookie(token)}; HttpOnly; SameSite=Strict; Path=/`,
      // One slash only: two would redirect to another machine.
      location: url.pathname.replace(/^\/+/, '/'),
    });
    response.end();
    return;
  }
  await serve(options, url, exchange);
}

async function serve(options: DashboardServerOptions, url: URL, exchange: Exchange): Promise<void> {
  if (url.pathname === '/api/rows') {
    streamChanges(options.rowStore, exchange.request, exchange.response, securityHeaders);
    return;
  }
  if (url.pathname === '/api/path') {
    await servePath(options, url, exchange);
    return;
  }
  const asset = options.assets.get(url.pathname);
  if (asset === undefined) reply(exchange, 404, 'The page does not exist.');
  else await send(exchange, asset.type, asset.body);
}

async function servePath(
  options: DashboardServerOptions,
  url: URL,
  exchange: Exchange,
): Promise<void> {
  const [namespace = '', name = ''] = (url.searchParams.get('service') ?? '').split('/');
  const signal = AbortSignal.any([exchange.signal, AbortSignal.timeout(pathLimitMs)]);
  const path = await options.findPath(namespace, name, signal);
  if (path === undefined) reply(exchange, 404, 'The Service does not exist.');
  else {
    const body = Buffer.from(JSON.stringify(path));
    await send(exchange, 'application/json', body);
  }
}

async function send(exchange: Exchange, type: string, body: Buffer): Promise<void> {
  const accepts = (exchange.request.headers['accept-encoding'] ?? '').includes('gzip');
  const isCompressed = accepts && body.length >= compressFrom;
  sendAnswer(exchange, {
    status: 200,
    headers: {
      ...securityHeaders,
      'content-type': type,
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    },
    body: isCompressed ? await compress(body) : body,
  });
}

function reply(exchange: Exchange, status: number, text: string): void {
  const headers = { ...securityHeaders, 'content-type': 'text/plain; charset=utf-8' };
  sendAnswer(exchange, { status, headers, body: `${text}\n` });
}
