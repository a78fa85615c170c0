import type { ListenOptions, Server } from 'node:net';

const freeLoopbackPort: ListenOptions = { host: '127.0.0.1', port: 0 };

/**
 * Starts listening and returns the port, which is 0 for a Unix socket. The default is a free port of
 * 127.0.0.1. Rejects when the place can't be had. A later error of the server is a failed accept: it
 * concerns one connection, and the server goes on.
 */
export function listen(server: Server, where: ListenOptions = freeLoopbackPort): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.off('error', reject);
      server.on('error', () => {});
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
