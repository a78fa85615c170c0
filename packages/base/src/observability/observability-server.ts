import { sendAnswer, startHttpServer, type TextAnswer } from '../http/http-server.ts';
import type { PrometheusMetrics } from './prometheus.ts';
import type { Readiness, ReadinessResult } from './readiness.ts';

export interface ObservabilityServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly metrics: PrometheusMetrics;
  readonly readiness: Readiness;
}

export interface ObservabilityServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves `/healthz` (alive), `/readyz` (ready, or the reasons) and `/metrics`. `/readyz?strict` fails for a
 * degraded process, too.
 */
export function startObservabilityServer(
  options: ObservabilityServerOptions,
): Promise<ObservabilityServer> {
  const { host, port } = options;
  return startHttpServer({
    name: 'health and metrics',
    listen: { host, port },
    limits: { headersMs: 10_000, requestMs: 10_000, connections: 256 },
    async handle(exchange) {
      const { method, url = '/' } = exchange.request;
      const found = await answer(options, url);
      const isRead = method === 'GET' || method === 'HEAD';
      sendAnswer(exchange, isRead ? found : { ...found, status: 405 });
    },
  });
}

async function answer(options: ObservabilityServerOptions, url: string): Promise<TextAnswer> {
  switch (url.split('?')[0]) {
    case '/healthz':
    case '/livez':
      return text(200, 'ok');
    case '/readyz':
      return readinessAnswer(options.readiness.report(), url.endsWith('?strict'));
    case '/metrics':
      return {
        status: 200,
        headers: { 'content-type': options.metrics.contentType },
        body: await options.metrics.render(),
      };
    default:
      return text(404, 'not found: try /healthz, /readyz or /metrics');
  }
}

/** A degradation counts as not ready in a strict answer only. */
function readinessAnswer(report: readonly ReadinessResult[], isStrict: boolean): TextAnswer {
  const failed = report.filter(({ problem }) => problem !== undefined);
  const isReady = failed.every(({ isDegradation }) => isDegradation && !isStrict);
  const lines = report.map(({ name, problem, isDegradation }) =>
    problem === undefined ? `[+] ${name}` : `[${isDegradation ? '!' : '-'}] ${name}: ${problem}`,
  );
  const verdict = !isReady ? 'not ready' : failed.length > 0 ? 'ready, degraded' : 'ready';
  return text(isReady ? 200 : 503, [...lines, verdict].join('\n'));
}

function text(status: number, body: string): TextAnswer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: `${body}\n` };
}
