import net, { type AddressInfo } from 'node:net';

export interface Forwarder {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Takes connections on the loopback address to a socket in the file system, which reaches into every
 * network namespace: how an agent in one can be called from outside.
 */
export async function forwardTo(socketFile: string): Promise<Forwarder> {
  const open = new Set<net.Socket>();
  const server = net.createServer((near) => {
    const far = net.connect(socketFile);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      socket.on('error', () => {
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
