import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { CausewayError } from '../error/causeway-error.ts';
import { limitRequests } from '../http/http-limits.ts';
import type { PrometheusMetrics } from './prometheus.ts';
import type { Readiness } from './readiness.ts';

export interface ObservabilityServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly metrics: PrometheusMetrics;
  readonly readiness: Readiness;
}

export interface ObservabilityServer {
  readonly url: string;
  close(): Promise<void>;
}

/** `/healthz` (alive), `/readyz` (ready, or why not) and `/metrics`. */
export async function startObservabilityServer(
  options: ObservabilityServerOptions,
): Promise<ObservabilityServer> {
  const server = http.createServer((request, response) => {
    answer(options, request.url ?? '/').then(
      ({ status, type, body }) => {
        response.writeHead(request.method === 'GET' || request.method === 'HEAD' ? status : 405, {
          'content-type': type,
        });
        response.end(request.method === 'HEAD' ? undefined : body);
      },
      () => response.writeHead(500).end(),
    );
  });
  limitRequests(server, { headersMs: 10_000, requestMs: 10_000, connections: 256 });
  await listen(server, options.host, options.port);
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: http.Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new CausewayError(
          'unavailable',
          `can't serve health and metrics on ${host}:${port}: ${error.message}`,
          {
            cause: error,
            hint: 'Another process may hold the port; choose another one.',
          },
        ),
      ),
    );
    server.listen(port, host, resolve);
  });
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

async function answer(options: ObservabilityServerOptions, url: string): Promise<Answer> {
  const text = (status: number, body: string): Answer => ({
    status,
    type: 'text/plain; charset=utf-8',
    body: `${body}\n`,
  });
  switch (url.split('?')[0]) {
    case '/healthz':
    case '/livez':
      return text(200, 'ok');
    case '/readyz': {
      const report = options.readiness.report();
      const isReady = report.every(({ problem }) => problem === undefined);
      const lines = report.map(({ name, problem }) =>
        problem === undefined ? `[+] ${name}` : `[-] ${name}: ${problem}`,
      );
      return text(isReady ? 200 : 503, [...lines, isReady ? 'ready' : 'not ready'].join('\n'));
    }
    case '/metrics':
      return {
        status: 200,
        type: options.metrics.contentType,
        body: await options.metrics.render(),
      };
    default:
      return text(404, 'not found: try /healthz, /readyz or /metrics');
  }
}
