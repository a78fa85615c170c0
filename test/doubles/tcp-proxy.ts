import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

/** A network connection between a client and a server, with network faults. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks open connections and refuses new ones. */
  cut(): void;
  /** Half-open: connections stay open, but pass no more data. */
  freeze(): void;
  /** New connections pass again; frozen ones stay frozen. */
  restore(): void;
  readonly connections: number;
  close(): Promise<void>;
}

export async function startTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const pairs = new Set<readonly [net.Socket, net.Socket]>();
  let isCut = false;
  const server = net.createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const upstream = net.connect(target);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
    }
  });
  await listen(server);
  const destroyAll = () => {
    for (const [client, upstream] of pairs) {
      client.resetAndDestroy();
      upstream.destroy();
    }
  };
  return {
    port: (server.address() as net.AddressInfo).port,
    cut() {
      isCut = true;
      destroyAll();
    },
    freeze() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream).pause();
        upstream.unpipe(client).pause();
      }
    },
    restore() {
      isCut = false;
    },
    get connections() {
      return pairs.size;
    },
    close() {
      destroyAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
