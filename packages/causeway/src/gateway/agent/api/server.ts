import fs from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, ListenOptions } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { limitRequests, type RequestLimits } from '@causeway/base/http/http-limits';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import { gatewayMetrics } from '../gateway-metrics.ts';
import type { EventStream } from './event-stream.ts';
import { errorReply, refusalOf, type Reply } from './reply.ts';
import type { AgentStatus } from '../../protocol/agent-status.ts';
import type { V1Api } from './v1-api.ts';
import type { V2Api } from './v2-api.ts';

/** A push of ten thousands of Services over a slow line takes its time. */
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
  /** The metrics page, which ch-k8s-lbaas's agent serves beside its API. */
  metricsPage(): Promise<{ type: string; body: string }>;
  readonly log: Log;
  readonly metrics: Metrics;
}

export interface AgentServer {
  readonly url: string;
  /** Uses new certificates for connections from now on. */
  setTls(tls: SecureContextOptions): void;
  close(): Promise<void>;
}

/**
 * Serves both APIs, on the network and on a socket in the file system for whoever is root here.
 * Requests that are under way when it closes are finished first.
 */
export async function startAgentServer(
  options: AgentServerOptions,
  signal: AbortSignal,
): Promise<AgentServer> {
  const { tls } = options;
  const onRequest = (request: http.IncomingMessage, response: http.ServerResponse) => {
    serve(options, request, response, signal).catch((error: unknown) => {
      options.log.error({ error: CausewayError.from(error) }, 'a request failed unexpectedly');
      response.destroy();
    });
  };
  const needsCertificate = tls?.ca !== undefined;
  const server =
    tls === undefined
      ? http.createServer(onRequest)
      : https.createServer(
          {
            ...tls,
            requestCert: needsCertificate,
            rejectUnauthorized: needsCertificate,
            handshakeTimeout: limits.headersMs,
          },
          onRequest,
        );
  const local = http.createServer(onRequest);
  const servers = [server, local];
  for (const each of servers) limitRequests(each, limits);
  await listen(server, { host: options.host, port: options.port });
  await fs.rm(options.socketFile, { force: true });
  await listen(local, { path: options.socketFile });
  await fs.chmod(options.socketFile, 0o600);
  const { address, family, port } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    setTls: (next) => {
      if (server instanceof https.Server) server.setSecureContext(next);
    },
    async close() {
      options.events.close();
      await Promise.all(servers.map(close));
    },
  };
}

function close(server: http.Server | https.Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

async function serve(
  options: AgentServerOptions,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (request.url === '/v1/apply' && options.v1 !== undefined) {
    const { reply, refusal } = await options.v1.apply(request, signal);
    if (refusal !== undefined) {
      countRefusal(options, 'v1', refusal.reason, request, refusal.error);
    }
    send(request, response, reply);
    return;
  }
  if (request.url === '/metrics' && request.method === 'GET') {
    const { type, body } = await options.metricsPage();
    response.writeHead(200, { 'content-type': type }).end(body);
    return;
  }
  if (options.v2 === undefined || request.url?.startsWith('/v2/') !== true) {
    send(request, response, { status: 404, body: { error: { reason: 'not-found' } } });
    return;
  }
  await serveV2(options, options.v2, request, response, signal);
}

async function serveV2(
  options: AgentServerOptions,
  api: V2Api,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  try {
    const claims = await api.authenticate(request);
    if (request.method === 'GET' && request.url === '/v2/events') {
      options.events.add(response, options.status());
      return;
    }
    const reply = await api.handle(request, claims, signal);
    if (reply === undefined) throw new CausewayError('not-found', 'there is no such request');
    send(request, response, reply);
  } catch (error) {
    countRefusal(options, 'v2', refusalOf(error).reason, request, error);
    send(request, response, errorReply(error));
  }
}

function countRefusal(
  options: AgentServerOptions,
  api: 'v1' | 'v2',
  reason: string,
  request: http.IncomingMessage,
  error?: unknown,
): void {
  options.metrics.counter(gatewayMetrics.refused).add({ api, reason });
  const from = request.socket.remoteAddress;
  const why = error === undefined ? {} : { error: CausewayError.from(error) };
  options.log.warn({ api, reason, from, ...why }, 'a request was refused');
}

function send(request: http.IncomingMessage, response: http.ServerResponse, reply: Reply): void {
  const body = `${JSON.stringify(reply.body)}\n`;
  response.writeHead(reply.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
  // What is left of a refused body is thrown away, so that its sender comes to read the answer.
  request.resume();
}

function listen(server: http.Server | https.Server, where: ListenOptions): Promise<void> {
  const place = where.path ?? `${where.host}:${where.port}`;
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new CausewayError('unavailable', `can't serve the agent's API on ${place}`, {
          cause,
          hint: 'Another process may hold it, or the address is not on this machine.',
        }),
      ),
    );
    server.listen(where, resolve);
  });
}
