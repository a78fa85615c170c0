import net from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

/** A stretch of network between a client and a server, with the faults that networks have. */
export interface TcpProxy {
  readonly port: number;
  /** Breaks what is connected and refuses new connections. */
  cut(): void;
  /** Half-open: what is connected stays so, and nothing passes any more. */
  freeze(): void;
  /** New connections pass again; frozen ones stay frozen. */
  mend(): void;
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
    mend() {
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
