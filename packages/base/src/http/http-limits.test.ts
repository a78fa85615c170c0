import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limitRequests } from './http-limits.ts';

let server: http.Server;
afterEach(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    }),
);

async function start(limits: Parameters<typeof limitRequests>[1]): Promise<number> {
  server = http.createServer({ connectionsCheckingInterval: 20 }, (request, response) => {
    request.on('error', () => {});
    request.resume().on('end', () => response.end('done'));
  });
  limitRequests(server, limits);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Everything that the server says until it closes the connection. */
function saidUntilClosed(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (said += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(said));
  });
}

test.each([
  ['headers that never end', 'GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '],
  ['a body that never comes', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx'],
  [
    'chunks that stop coming',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
  ],
])('%s are given up', async (_what, text) => {
  const port = await start({ headersMs: 100, requestMs: 200, connections: 10 });
  expect(await saidUntilClosed(port, text)).toContain('408 Request Timeout');
});

test('more connections than allowed are closed as they come', async () => {
  const port = await start({ headersMs: 60_000, requestMs: 60_000, connections: 1 });
  const first = net.connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => server.once('connection', () => resolve()));
  expect(await saidUntilClosed(port, '').catch(() => '')).toBe('');
  first.destroy();
});
