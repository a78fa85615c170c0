import net from 'node:net';
import { listen } from '@causeway/base/network/listen';

/**
 * A port of the loopback address, or a socket in the file system, which every network namespace can reach.
 */
export type SocketPlace = { readonly port: number } | { readonly path: string };

export interface Relay {
  /** The port that it listens on; 0 for a socket. */
  readonly port: number;
  close(): Promise<void>;
}

/** Forwards connections from one place to another. Port 0 listens on any free port. */
export async function startRelay(from: SocketPlace, to: SocketPlace): Promise<Relay> {
  const open = new Set<net.Socket>();
  const server = net.createServer((near) => {
    for (const socket of [near, join(near, to)]) {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
    }
  });
  const port = await listen(server, onThisMachine(from));
  return {
    port,
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Connects to a place and forwards data in both directions. When one side closes, so does the other. */
export function join(near: net.Socket, to: SocketPlace): net.Socket {
  const far = net.connect(onThisMachine(to));
  for (const socket of [near, far]) {
    socket.on('error', () => {
      near.destroy();
      far.destroy();
    });
  }
  near.pipe(far);
  far.pipe(near);
  return far;
}

function onThisMachine(place: SocketPlace) {
  return 'path' in place ? place : { ...place, host: '127.0.0.1' };
}
