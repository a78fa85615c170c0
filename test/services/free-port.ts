import net from 'node:net';

/**
 * Below the range from which the kernel takes the ports of outgoing connections: a service may need ten
 * seconds to get to its port, and by then one of thousands of connections could have it.
 */
const first = 12_000;
const last = 29_999;

/**
 * Ports that were free a moment ago. All are held until the last is found, so that they differ from
 * each other. They are drawn by lot, so another taker of the same one is unlikely; a service that finds
 * its port taken fails to start and says so.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, net.Server>();
  try {
    while (held.size < count) {
      const port = first + Math.floor(Math.random() * (last - first + 1));
      const server = await tryToHold(port);
      if (server !== undefined) held.set(port, server);
    }
    return [...held.keys()];
  } finally {
    await Promise.all(
      [...held.values()].map(
        (server) => new Promise<void>((resolve) => server.close(() => resolve())),
      ),
    );
  }
}

function tryToHold(port: number): Promise<net.Server | undefined> {
  const server = net.createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  return port;
}
