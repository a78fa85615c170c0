import type { ListenOptions, Server } from 'node:net';

const freeLoopbackPort: ListenOptions = { host: '127.0.0.1', port: 0 };

/**
 * Starts listening and returns the port, which is 0 for a Unix socket. The default is a free port on
 * 127.0.0.1. Rejects if the address is not available. A later error of the server is a failed accept: it
 * affects one connection only.
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
