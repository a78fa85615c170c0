import net from 'node:net';
import { expect, it, test } from 'vitest';
import { listenPlace } from './listen-place.ts';
import { listen } from '@causeway/base/network/listen';

test.each([
  ['all addresses', '::', { port: 0 }],
  ['no address', undefined, { port: 0 }],
  ['one address', '127.0.0.1', { port: 0, host: '127.0.0.1' }],
  ['all of IPv4', '0.0.0.0', { port: 0, host: '0.0.0.0' }],
])('%s', (_, host, expected) => {
  expect(listenPlace(0, host)).toEqual(expected);
});

it('reaches IPv4 clients on any machine', async () => {
  const server = net.createServer((socket) => socket.end());
  const port = await listen(server, listenPlace(0, '::'));
  const client = net.connect({ port, host: '127.0.0.1' }).resume();
  await new Promise((resolve) => client.once('end', resolve));
  await new Promise((resolve) => server.close(resolve));
});
