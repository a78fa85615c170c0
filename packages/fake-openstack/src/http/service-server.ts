import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import { readBounded } from '@causeway/base/http/bounded-body';
import {
  startHttpServer,
  type HttpServer,
  type RequestLimits,
} from '@causeway/base/http/http-server';
import type { Clock } from '@causeway/base/time/clock';
import { sleep } from '@causeway/base/time/clock';
import type { FaultEffect, Faults } from '../faults.ts';
import { answerUnder } from './answer-under-faults.ts';
import { parseBody, type Answer, type Call, type RequestBody, type ServiceName } from './call.ts';

/** A request before routing. */
export type UnroutedCall = Omit<Call, 'parameters'>;

export interface ServiceServerOptions {
  readonly service: ServiceName;
  readonly clock: Clock;
  readonly faults: Faults;
  /** 0 selects a free port. */
  readonly port: number;
  /** Must not throw. Rejections are answers too. */
  readonly handle: (call: UnroutedCall) => Answer;
}

/** A handled request, for tests that count requests. */
export interface RequestRecord {
  readonly service: ServiceName;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly status: number | 'dropped';
}

const longestBody = 16 * 1024 * 1024;
const limits: RequestLimits = {
  headersMs: 60_000,
  requestMs: 300_000,
  connections: Number.POSITIVE_INFINITY,
};

/** The HTTP server of one service: parsing, faults, latency, answers. */
export class ServiceServer {
  private readonly options: ServiceServerOptions;
  private server: HttpServer | undefined;
  private readonly stopped = new AbortController();
  private readonly listeners = new Set<(record: RequestRecord) => void>();
  url = '';

  constructor(options: ServiceServerOptions) {
    this.options = options;
  }

  async start(): Promise<string> {
    this.server = await startHttpServer({
      name: this.options.service,
      listen: { host: '127.0.0.1', port: this.options.port },
      limits,
      handle: ({ request, response }) => this.serve(request, response),
      onFailure: (_error, { response }) => void response.destroy(),
    });
    this.url = this.server.url;
    return this.url;
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.server?.close();
  }

  /** Calls the listener after each request. Returns a function that removes the listener. */
  onRequest(listener: (record: RequestRecord) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { service, clock, faults } = this.options;
    const method = request.method ?? 'GET';
    const url = new URL(request.url ?? '/', this.url);
    const line = { service, method, path: url.pathname };
    const effects = faults.take(line);
    const body = await readBody(request);
    const delayMs = faults.latencyMs + delayOf(effects);
    if (delayMs > 0) await sleep(clock, delayMs, this.stopped.signal);
    const record = (status: number | 'dropped') => {
      for (const listener of this.listeners) listener({ ...line, query: url.search, status });
    };
    const answer = answerUnder(effects, () =>
      this.options.handle({
        method,
        path: url.pathname,
        query: url.searchParams,
        headers: singleHeaders(request.headers),
        body,
        baseUrl: this.url,
      }),
    );
    if (answer === 'dropped') {
      record('dropped');
      request.socket.destroy();
      return;
    }
    record(answer.status);
    send(response, answer, method);
  }
}

function delayOf(effects: readonly FaultEffect[]): number {
  return effects.reduce((sum, e) => sum + (e.kind === 'delay' ? e.milliseconds : 0), 0);
}

async function readBody(request: http.IncomingMessage): Promise<RequestBody> {
  try {
    const bytes = await readBounded(request, longestBody, () => new BodyTooLong());
    return parseBody(bytes.toString());
  } catch (error) {
    if (error instanceof BodyTooLong) return { kind: 'malformed' };
    throw error;
  }
}

class BodyTooLong extends Error {}

function singleHeaders(headers: http.IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}

function send(response: http.ServerResponse, answer: Answer, method: string): void {
  const headers: Record<string, string> = {
    'x-openstack-request-id': `req-${randomUUID()}`,
    ...answer.headers,
  };
  let content = '';
  if (answer.text !== undefined) {
    headers['content-type'] = answer.text.type;
    content = answer.text.content;
  } else if (answer.body !== undefined) {
    headers['content-type'] = 'application/json';
    content = JSON.stringify(answer.body);
  }
  headers['content-length'] = String(Buffer.byteLength(content));
  response.writeHead(answer.status, headers);
  response.end(method === 'HEAD' ? undefined : content);
}
