import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

export interface TcpProxy {
  readonly port: number;
  /** From now on requests arrive, answers don't. */
  mute(): void;
  /** Cuts every open connection, in the middle of its data. */
  cut(): void;
  close(): Promise<void>;
}

/** A proxy for a port of this machine that can be cut. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const open = new Set<net.Socket>();
  let muted = false;
  const track = (socket: net.Socket, other: net.Socket) => {
    open.add(socket);
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      open.delete(socket);
      other.destroy();
    });
  };
  const server = net.createServer((client) => {
    const target = net.connect(targetPort, '127.0.0.1');
    track(client, target);
    track(target, client);
    client.pipe(target);
    target.on('data', (chunk: Buffer) => {
      if (!muted) client.write(chunk);
    });
  });
  await listen(server);
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    mute: () => (muted = true),
    cut,
    async close() {
      cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
