import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { EmbeddedKubernetes } from '../../packages/fake-kubernetes/src/start.ts';

/**
 * - `pass`: every request reaches the right API server
 * - `empty-lists`: all lists are empty, with a higher resource version, and single objects are right
 * - `empty-slices`: the same for EndpointSlices only
 * - `no-services`: the API server has no Service, neither in lists nor by name
 * - `other-cluster`: every request reaches the API server of another cluster
 */
export type ProxyMode = 'pass' | 'empty-lists' | 'empty-slices' | 'no-services' | 'other-cluster';

const collectionPattern = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)(?:\/namespaces\/[^/]+)?\/([^/]+)$/;
const servicePattern = /^\/api\/v1\/namespaces\/[^/]+\/services\/[^/]+$/;
const resourceVersion = '999999999';

/** An HTTP proxy between a process and API servers. A change of its mode ends all connections. */
export class ApiServerProxy {
  readonly #server: http.Server;
  readonly #right: EmbeddedKubernetes;
  readonly #other: EmbeddedKubernetes;
  #mode: ProxyMode = 'pass';
  #wrongAnswers = 0;

  private constructor(right: EmbeddedKubernetes, other: EmbeddedKubernetes) {
    this.#right = right;
    this.#other = other;
    this.#server = http.createServer((request, response) => this.#answer(request, response));
  }

  static async start(right: EmbeddedKubernetes, other: EmbeddedKubernetes) {
    const proxy = new ApiServerProxy(right, other);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** The number of answers since the last change of the mode that are not those of the right API server. */
  get wrongAnswers(): number {
    return this.#wrongAnswers;
  }

  switchTo(mode: ProxyMode): void {
    this.#mode = mode;
    this.#wrongAnswers = 0;
    this.#server.closeAllConnections();
  }

  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    return closed;
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    const url = new URL(request.url ?? '/', this.url);
    const plural = collectionPattern.exec(url.pathname)?.[1];
    if (request.method === 'GET' && plural !== undefined && this.#empties(plural)) {
      this.#wrongAnswers += 1;
      answerEmpty(url, response);
    } else if (this.#mode === 'no-services' && servicePattern.test(url.pathname)) {
      answer(response, 404, { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 });
    } else if (this.#mode === 'other-cluster') {
      this.#wrongAnswers += 1;
      forward(this.#other, request, response);
    } else {
      forward(this.#right, request, response);
    }
  }

  #empties(plural: string): boolean {
    switch (this.#mode) {
      case 'empty-lists':
        return true;
      case 'empty-slices':
        return plural === 'endpointslices';
      case 'no-services':
        return plural === 'services';
      case 'pass':
      case 'other-cluster':
        return false;
    }
  }
}

/** A watch from a known version is expired, so that its client reads the empty list. */
function answerEmpty({ searchParams }: URL, response: http.ServerResponse): void {
  if (searchParams.get('watch') !== 'true' && searchParams.get('watch') !== '1') {
    answer(response, 200, { kind: 'List', metadata: { resourceVersion }, items: [] });
  } else if (searchParams.get('sendInitialEvents') === 'true') {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const object = { metadata: { resourceVersion, annotations } };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  } else if (searchParams.get('resourceVersion') === resourceVersion) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
  } else {
    answer(response, 410, { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 });
  }
}

function answer(response: http.ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function forward(
  { url, ca, token }: EmbeddedKubernetes,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): void {
  const { host: _host, ...headers } = request.headers;
  const upstream = https.request(
    new URL(request.url ?? '/', url),
    { method: request.method, headers: { ...headers, authorization: `Bearer ${token}` }, ca },
    (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.on('error', () => response.destroy());
      answered.pipe(response);
    },
  );
  upstream.on('error', () => response.destroy());
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
}
