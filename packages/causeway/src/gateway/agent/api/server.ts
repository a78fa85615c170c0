import fs from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { CausewayError } from '@causeway/base/error/causeway-error';
import {
  startHttpServer,
  type Exchange,
  type HttpServerOptions,
  type RequestLimits,
} from '@causeway/base/http/http-server';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { gatewayMetrics } from '../metric-definitions.ts';
import type { EventStream } from './event-stream.ts';
import { errorReply, refusalOf, type Reply } from './reply.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { V1Api } from './v1-api.ts';
import type { V2Api } from './v2-api.ts';

/** An update with tens of thousands of Services takes time over a slow connection. */
const limits: RequestLimits = { headersMs: 10_000, requestMs: 120_000, connections: 256 };

export interface AgentServerOptions {
  readonly host: string;
  readonly port: number;
  /** Served without TLS; only root can open it. */
  readonly socketFile: string;
  readonly tls: SecureContextOptions | undefined;
  readonly v1: V1Api | undefined;
  readonly v2: V2Api | undefined;
  readonly events: EventStream;
  status(): AgentStatus;
  /** The metrics page. ch-k8s-lbaas's agent also serves it beside its API. */
  metricsPage(): Promise<{ type: string; body: string }>;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface AgentServer {
  readonly url: string;
  /** Uses new certificates for new connections. */
  setTls(tls: SecureContextOptions): void;
  close(): Promise<void>;
}

/**
 * Serves both APIs, on the network and on a Unix socket that only root can open. Closing the server waits for
 * running requests.
 */
export async function startAgentServer(
  options: AgentServerOptions,
  signal: AbortSignal,
): Promise<AgentServer> {
  const { host, port, socketFile, tls } = options;
  const needsCertificate = tls?.ca !== undefined;
  const common: Omit<HttpServerOptions, 'listen'> = {
    name: "the agent's API",
    hint: 'Another process may use the address, or the address is not on this machine.',
    limits,
    handle: (exchange) => serve(options, exchange, signal),
    onFailure(error, { response }) {
      options.log.error({ error: CausewayError.from(error) }, 'a request failed unexpectedly');
      response.destroy();
    },
  };
  const server = await startHttpServer({
    ...common,
    listen: { host, port },
    tls: tls && { ...tls, requestCert: needsCertificate, rejectUnauthorized: needsCertificate },
  });
  await fs.rm(socketFile, { force: true });
  const local = await startHttpServer({ ...common, listen: { path: socketFile } });
  await fs.chmod(socketFile, 0o600);
  return {
    url: server.url,
    setTls: (next) => server.setTls(next),
    async close() {
      options.events.close();
      await Promise.all([server.drain(), local.drain()]);
    },
  };
}

/** Work continues when the client disconnects: the signal of the process ends it, not the client's. */
async function serve(
  options: AgentServerOptions,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<void> {
  const { request, response } = exchange;
  if (request.url === '/v1/apply' && options.v1 !== undefined) {
    const { reply, refusal } = await options.v1.apply(request, signal);
    if (refusal !== undefined) {
      countRefusal(options, 'v1', refusal.reason, request, refusal.error);
    }
    send(exchange, reply);
    return;
  }
  if (request.url === '/metrics' && request.method === 'GET') {
    const { type, body } = await options.metricsPage();
    response.writeHead(200, { 'content-type': type }).end(body);
    return;
  }
  if (options.v2 === undefined || request.url?.startsWith('/v2/') !== true) {
    send(exchange, { status: 404, body: { error: { reason: 'not-found' } } });
    return;
  }
  await serveV2(options, options.v2, exchange, signal);
}

async function serveV2(
  options: AgentServerOptions,
  api: V2Api,
  exchange: Exchange,
  signal: AbortSignal,
): Promise<void> {
  const { request, response } = exchange;
  try {
    const claims = await api.authenticate(request);
    if (request.method === 'GET' && request.url === '/v2/events') {
      options.events.add(response, options.status());
      return;
    }
    const reply = await api.handle(request, claims, signal);
    if (reply === undefined) throw new CausewayError('not-found', 'there is no such request');
    send(exchange, reply);
  } catch (error) {
    countRefusal(options, 'v2', refusalOf(error).reason, request, error);
    send(exchange, errorReply(error));
  }
}

function countRefusal(
  options: AgentServerOptions,
  api: 'v1' | 'v2',
  reason: string,
  request: IncomingMessage,
  error?: unknown,
): void {
  options.metrics.counter(gatewayMetrics.refused).add({ api, reason });
  const from = request.socket.remoteAddress;
  const why = error === undefined ? {} : { error: CausewayError.from(error) };
  options.log.warn({ api, reason, from, ...why }, 'a request was refused');
}

function send({ request, response }: Exchange, reply: Reply): void {
  const body = `${JSON.stringify(reply.body)}\n`;
  response.writeHead(reply.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
  // The rest of a rejected body is discarded, so that the client reads the answer.
  request.resume();
}
