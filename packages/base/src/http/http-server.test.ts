import { once } from 'node:events';
import fs from 'node:fs/promises';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CausewayError } from '../error/causeway-error.ts';
import { whenAborted } from '../time/when-aborted.ts';
import {
  sendAnswer,
  startHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type RequestLimits,
} from './http-server.ts';

const patient: RequestLimits = { headersMs: 60_000, requestMs: 60_000, connections: 10 };
const opened: HttpServer[] = [];

async function start(options: Partial<HttpServerOptions>): Promise<HttpServer> {
  const server = await startHttpServer({
    name: 'a test',
    listen: { host: '127.0.0.1', port: 0 },
    limits: patient,
    handle: (exchange) => sendAnswer(exchange, { status: 200, body: 'done' }),
    ...options,
  });
  opened.push(server);
  return server;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

/** All text that the server sends until it closes the connection. */
function receivedUntilClosed(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

test.each([
  ['headers that never end', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '],
  ['a body that never arrives', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx'],
  [
    'chunks that stop arriving',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
  ],
])('closes a connection with %s', async (_what, text) => {
  const { port } = await start({
    limits: { headersMs: 100, requestMs: 200, connections: 10, checkEveryMs: 20 },
    async handle(exchange) {
      await exchange.request.resume().toArray();
      sendAnswer(exchange, { status: 200, body: 'done' });
    },
  });
  expect(await receivedUntilClosed(port, text)).toContain('408 Request Timeout');
});

test('closes connections beyond its limit', async () => {
  const { port } = await start({ limits: { ...patient, connections: 1 } });
  const first = net.connect(port, '127.0.0.1');
  first.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await once(first, 'data');
  expect(await receivedUntilClosed(port, '').catch(() => '')).toBe('');
  first.destroy();
});

test('rejects two lengths, or a length beside chunks, which could smuggle requests', async () => {
  const { port } = await start({});
  for (const headers of [
    'Content-Length: 4\r\nContent-Length: 5',
    'Content-Length: 4\r\nTransfer-Encoding: chunked',
  ]) {
    const text = `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n0\r\n\r\nGET /smuggled`;
    expect(await receivedUntilClosed(port, text)).toMatch(/^HTTP\/1\.1 400 /);
  }
});

test('answers HEAD with headers only', async () => {
  const { url } = await start({});
  const answer = await fetch(url, { method: 'HEAD' });
  expect([answer.headers.get('content-length'), await answer.text()]).toEqual(['4', '']);
});

test('names the server, the address and a remedy if the port is in use', async () => {
  const { port } = await start({});
  await expect(start({ listen: { host: '127.0.0.1', port } })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining(`can't serve a test on 127.0.0.1:${port}`) as string,
    hint: expect.stringContaining('Another process') as string,
  });
});

test('answers a failure with 500, and cuts the connection if onFailure fails', async () => {
  const handle = () => Promise.reject(new Error('secret detail'));
  const plain = await start({ handle });
  const answer = await fetch(plain.url);
  expect([answer.status, await answer.text()]).toEqual([500, '']);
  const broken = await start({
    handle,
    onFailure() {
      throw new Error('again');
    },
  });
  await expect(fetch(broken.url)).rejects.toThrow('fetch failed');
});

test('fires the signal of a request when its client disconnects', async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const { url } = await start({ handle: ({ signal }) => started.resolve(signal) });
  const client = new AbortController();
  const asking = fetch(url, { signal: client.signal }).catch(() => undefined);
  const signal = await started.promise;
  expect(signal.aborted).toBe(false);
  client.abort();
  await whenAborted(signal);
  await asking;
});

test('drains: waits for running requests, rejects further ones and closes their connections', async () => {
  const started = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  const server = await start({
    async handle(exchange) {
      started.resolve(undefined);
      await gate.promise;
      sendAnswer(exchange, { status: 200, body: 'done' });
    },
  });
  const { port } = server;
  const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  const received = receivedUntilClosed(port, get);
  await started.promise;
  const draining = server.drain();
  gate.resolve(undefined);
  const text = await received;
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(text.toLowerCase()).toContain('connection: close');
  await draining;
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed');
});

test('answers a request that arrives during a drain with 503', async () => {
  const started = Promise.withResolvers<http.ServerResponse>();
  const server = await start({
    handle({ response }) {
      // The headers are already sent, so the connection stays open after this answer.
      response.writeHead(200, { 'content-length': 2 }).write('a');
      started.resolve(response);
    },
  });
  const socket = net.connect(server.port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  const first = await started.promise;
  const closed = once(socket, 'close');
  const draining = server.drain();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await expect.poll(() => server.requestsUnderWay).toBe(2);
  first.end('b');
  await Promise.all([draining, closed]);
  expect(received).toContain('HTTP/1.1 503 ');
  expect(received).toContain('"code":"unavailable"');
});

test('ends running requests with a reason', async () => {
  const reasons: unknown[] = [];
  const started = Promise.withResolvers<undefined>();
  const server = await start({
    async handle(exchange) {
      started.resolve(undefined);
      await whenAborted(exchange.signal);
      reasons.push(exchange.signal.reason);
      sendAnswer(exchange, { status: 503, body: '' });
    },
  });
  const asking = fetch(server.url);
  await started.promise;
  const reason = new CausewayError('unavailable', 'stopping');
  server.abortRequests(reason);
  expect((await asking).status).toBe(503);
  expect(reasons).toEqual([reason]);
});

test('listens on a Unix socket', async () => {
  const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'http-server-'));
  const socketPath = path.join(directory, 'socket');
  await start({ listen: { path: socketPath } });
  const [response] = (await once(http.get({ socketPath }), 'response')) as [http.IncomingMessage];
  expect(Buffer.concat((await response.toArray()) as Buffer[]).toString()).toBe('done');
  await fs.rm(directory, { recursive: true });
});
