import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

/** A port, or a Unix socket. */
export type ForwarderEnd =
  | { readonly host: string; readonly port: number }
  | { readonly path: string };

export interface Forwarder {
  /** Its port, if it listens on one. */
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Forwards connections from one end to the other. The file system is the same in all network namespaces: two
 * forwarders with a Unix socket between them lead from one namespace into another.
 */
export async function openForwarder(from: ForwarderEnd, to: ForwarderEnd): Promise<Forwarder> {
  const open = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const target = net.connect(to);
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      open.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  const port = await listen(server, from);
  return {
    port,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
