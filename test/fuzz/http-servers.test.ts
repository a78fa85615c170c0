import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Agent, request } from 'undici';
import { EventStream } from '../../packages/causeway/src/gateway/agent/api/event-stream.ts';
import { startAgentServer } from '../../packages/causeway/src/gateway/agent/api/server.ts';
import type { AgentStatus } from '../../packages/causeway/src/gateway/protocol/agent-status.ts';
import { V1Api } from '../../packages/causeway/src/gateway/agent/api/v1-api.ts';
import { V2Api } from '../../packages/causeway/src/gateway/agent/api/v2-api.ts';
import { startDashboard } from '../../packages/causeway/src/console/dashboard/server.ts';
import { startObservabilityServer } from '../../packages/base/src/observability/observability-server.ts';
import { PrometheusMetrics } from '../../packages/base/src/observability/prometheus.ts';
import { Readiness } from '../../packages/base/src/observability/readiness.ts';
import { RowStore } from '../../packages/causeway/src/console/overview/row-store.ts';
import { startResponder } from '../../packages/causeway/src/node-proxy/health/http-responder.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import { discardLog } from '../../packages/base/src/observability/log.ts';
import { noMetrics } from '../../packages/base/src/observability/metrics.ts';
import { startServer } from '../contract/ipam/server-under-test.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { hostileJson, hostileText } from './hostile.ts';

/** Every server that Causeway opens, by its name in docs/security.md. */
const names = ['agent', 'allocator', 'dashboard', 'health and metrics', 'node health'] as const;
type Name = (typeof names)[number];

const urls = new Map<Name, string>();
const servers = new Map<Name, http.Server>();
const stops: (() => Promise<void>)[] = [];
const { signal } = new AbortController();
const dispatcher = new Agent({ connections: 4, pipelining: 1 });

/**
 * Node publishes which server gets a request: this gives tests access to a server that is no field of any
 * object.
 */
const noteServer = (message: unknown) => {
  const { server, request: received } = message as {
    server: http.Server;
    request: http.IncomingMessage;
  };
  const name = names.find((each) => each === received.headers['x-server']);
  if (name !== undefined) servers.set(name, server);
};

beforeAll(async () => {
  subscribe('http.server.request.start', noteServer);
  await startAll();
  for (const [name, url] of urls) {
    const answer = await request(url, { headers: { 'x-server': name }, dispatcher });
    await answer.body.dump();
  }
});
afterAll(async () => {
  unsubscribe('http.server.request.start', noteServer);
  await dispatcher.close();
  for (const stop of stops) await stop();
});

async function startAll(): Promise<void> {
  const directory = await scratchDirectory('fuzz-http');
  stops.push(() => removeDirectory(directory));
  const own = { host: '127.0.0.1', port: 0, log: discardLog };
  const untouched = new Proxy({} as never, {
    get: (_target, name) => {
      if (name === 'state') return { digest: '', generation: 0 };
      throw new Error('a stranger has come as far as the gateway');
    },
  });
  const common = { gateway: untouched, clock: systemClock, servable: {} as never };
  const secrets = () => [Buffer.from('a secret that nobody guesses')];
  const agent = await startAgentServer(
    {
      ...own,
      socketFile: path.join(directory, 'api.sock'),
      tls: undefined,
      metrics: noMetrics,
      events: new EventStream(() => {}),
      status: () => ({}) as AgentStatus,
      metricsPage: () => Promise.resolve({ type: 'text/plain', body: '' }),
      v1: new V1Api({
        ...common,
        log: discardLog,
        metrics: noMetrics,
        masquerade: 'always',
        secrets,
      }),
      v2: new V2Api({
        ...common,
        name: 'g1',
        limits: { totalBytes: 1000, lineBytes: 1000 },
        secrets,
        status: untouched,
        sendUnhealthy: untouched,
        setRelief: untouched,
        countConnections: untouched,
        trace: untouched,
        pull: untouched,
        pins: untouched,
      }),
    },
    signal,
  );
  urls.set('agent', agent.url);
  stops.push(() => agent.close());
  const allocator = await startServer();
  urls.set('allocator', allocator.replica.url);
  stops.push(() => allocator.stop());
  const dashboard = await startDashboard({
    ...own,
    token: 'a token that nobody guesses',
    rowStore: new RowStore(),
    assets: new Map(),
    findPath: () => Promise.reject(new Error('reached')),
  });
  urls.set('dashboard', dashboard.url);
  stops.push(() => dashboard.close());
  const observe = await startObservabilityServer({
    ...own,
    metrics: new PrometheusMetrics(),
    readiness: new Readiness(),
  });
  urls.set('health and metrics', observe.url);
  stops.push(() => observe.close());
  const answer = () => ({ status: 200, body: 'ok' });
  const responder = await startResponder({ host: '127.0.0.1', port: 0, answer });
  urls.set('node health', `http://127.0.0.1:${responder.port}`);
  stops.push(() => responder.close());
}

function urlOf(name: Name): URL {
  return new URL(urls.get(name) ?? '');
}

/** Answer of a server to these bytes, until it closes or the test has enough. */
function say(name: Name, bytes: Buffer | string): Promise<string> {
  const { hostname, port } = urlOf(name);
  return new Promise((resolve) => {
    let said = '';
    const socket = net.connect(Number(port), hostname, () => socket.end(bytes));
    socket.on('data', (chunk) => (said += chunk.toString('latin1')));
    socket.on('error', () => resolve(said));
    socket.on('close', () => resolve(said));
  });
}

async function isAlive(name: Name): Promise<boolean> {
  const { statusCode, body } = await request(urlOf(name), { dispatcher });
  await body.dump();
  return statusCode > 0;
}

const paths = [
  ...['/', '//', '/v1/apply', '/v2/status', '/v2/push', '/v2/events', '/metrics', '/healthz'],
  ...['/api/rows', '/api/path?service=../..', '/?token=x', '/openapi.json', '/v1/sites'],
  ...['/v1/sites/a/clusters/b', '/v1/sites/a/pools/b/drain', '/v1/audit', '/.//evil.example'],
];

describe.each(names)('the server of %s', (name) => {
  test('limits slow senders and the number of connections', () => {
    const server = servers.get(name);
    expect(server?.headersTimeout).toBeGreaterThan(0);
    expect(server?.headersTimeout).toBeLessThanOrEqual(10_000);
    expect(server?.requestTimeout).toBeGreaterThan(0);
    expect(server?.requestTimeout).toBeLessThanOrEqual(120_000);
    expect(server?.maxConnections).toBeGreaterThan(0);
    expect(server?.maxConnections).toBeLessThanOrEqual(10_000);
    expect(server?.keepAliveTimeout).toBeGreaterThan(0);
  });

  test('survives bytes that are no request', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
          fc
            .tuple(fc.constantFrom('GET', 'POST', 'PRI', 'CONNECT'), hostileText, hostileText)
            .map(([method, url, rest]) =>
              Buffer.from(`${method} /${url} HTTP/1.1\r\nHost: a\r\n${rest}\r\n\r\n`),
            ),
        ),
        async (bytes) => {
          await say(name, bytes);
        },
      ),
      { numRuns: 40 },
    );
    expect(await isAlive(name)).toBe(true);
  });

  test.each([
    ['a header of a megabyte', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(1_000_000)}\r\n\r\n`],
    ['an address of a megabyte', `GET /${'x'.repeat(1_000_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a hundred thousand headers', `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(100_000)}\r\n`],
  ])('rejects %s', async (_what, text) => {
    const said = await say(name, text);
    if (said !== '') expect(said).toMatch(/^HTTP\/1\.1 (?:4|5)\d\d /);
    expect(await isAlive(name)).toBe(true);
  });

  test('rejects two lengths and a length beside chunks, which are used for request smuggling', async () => {
    for (const headers of [
      'Content-Length: 4\r\nContent-Length: 5',
      'Content-Length: 4\r\nTransfer-Encoding: chunked',
      'Transfer-Encoding: xchunked',
    ]) {
      const text = `POST /v1/apply HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n0\r\n\r\nGET /smuggled`;
      expect(await say(name, text)).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
  });

  test('answers an unauthenticated client only that it is unauthenticated, on every path', async () => {
    const asked = fc.record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH', 'OPTIONS'),
      path: fc.oneof(
        fc.constantFrom(...paths),
        hostileText.map((text) => `/${encodeURIComponent(text.toWellFormed())}`),
      ),
      body: fc.oneof(
        hostileText,
        hostileJson.map((value) => JSON.stringify(value) ?? ''),
      ),
      type: fc.constantFrom('application/json', 'application/jwt', 'application/jsonl', 'x/y'),
      authorization: fc.constantFrom(undefined, 'Bearer x', 'Basic eDp5', 'Bearer a.b.c'),
    });
    await fc.assert(
      fc.asyncProperty(asked, async ({ method, path: where, body, type, authorization }) => {
        const hasBody = method !== 'GET' && method !== 'HEAD';
        const answer = await dispatcher.request({
          origin: urlOf(name).origin,
          path: where,
          method,
          headers: {
            'content-type': type,
            ...(authorization === undefined ? {} : { authorization }),
          },
          ...(hasBody ? { body } : {}),
        });
        const text = await answer.body.text();
        expect(answer.statusCode, `${method} ${where}`).not.toBe(500);
        expect(text).not.toMatch(/ at .*\.ts:|node_modules|a stranger has come/);
        expect(answer.headers['location'] ?? '/').toMatch(/^\/(?!\/)/);
      }),
      { numRuns: 60 },
    );
  });
});

test('the allocator rejects an unauthenticated client before it reads the body', async () => {
  const { hostname, port } = urlOf('allocator');
  const said = await new Promise<string>((resolve, reject) => {
    // The body never comes: a server that waits for it never answers.
    const head = 'POST /v1/sites/a/clusters HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n';
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(`${head}Content-Type: application/json\r\nConnection: close\r\n\r\n{`);
    });
    socket.once('data', (chunk) => {
      socket.destroy();
      resolve(chunk.toString());
    });
    socket.on('error', reject);
  });
  expect(said).toMatch(/^HTTP\/1\.1 (?:401|429) /);
});
