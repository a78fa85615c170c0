import net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { listen } from './listen.ts';

const servers: net.Server[] = [];
const makeServer = () => {
  const server = net.createServer((socket) => socket.end());
  servers.push(server);
  return server;
};
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

test('chooses a free port by default, and rejects a port in use', async () => {
  const port = await listen(makeServer());
  expect(port).toBeGreaterThan(0);
  const second = listen(makeServer(), { host: '127.0.0.1', port });
  await expect(second).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test('survives a failed accept', async () => {
  const server = makeServer();
  await listen(server);
  expect(() => server.emit('error', new Error('accept EMFILE'))).not.toThrow();
});
