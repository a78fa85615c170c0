import http from 'node:http';
import { request } from 'undici';
import { listen } from '../../packages/base/src/network/listen.ts';

/**
 * - `before`: the connection is cut and the service never gets the request
 * - `after`: the service answers, and the connection is cut instead of passing the answer on
 */
export type Fault = 'before' | 'after';

export interface FaultProxy {
  readonly url: string;
  /** Applies the fault to the next request of this method, or after a number of others; later ones pass. */
  arm(method: string, fault: Fault, onStruck?: () => void, others?: number): void;
  /** Whether the armed fault has occurred. */
  hasStruck(): boolean;
  /** How many requests of this method have reached the service since the proxy was armed. */
  passed(method: string): number;
  close(): Promise<void>;
}

/** Proxy between a client and a service that cuts connections on request. */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let armed: { method: string; fault: Fault; onStruck: () => void; others: number } | undefined;
  let reached: string[] = [];
  const handle = async (incoming: http.IncomingMessage, outgoing: http.ServerResponse) => {
    const aimed = armed !== undefined && incoming.method === armed.method ? armed : undefined;
    const struck = aimed?.others === 0 ? aimed : undefined;
    if (struck !== undefined) armed = undefined;
    else if (aimed !== undefined) aimed.others -= 1;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (struck?.fault === 'before') {
      incoming.socket.destroy();
      struck.onStruck();
      return;
    }
    reached.push(incoming.method ?? 'GET');
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      ...headers
    } = incoming.headers;
    const answer = await request(new URL(incoming.url ?? '/', target), {
      method: (incoming.method ?? 'GET') as 'GET',
      headers,
      body: chunks.length === 0 ? null : Buffer.concat(chunks),
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    if (struck !== undefined) {
      incoming.socket.destroy();
      struck.onStruck();
      return;
    }
    const { 'transfer-encoding': _encoding, connection: _close, ...passed } = answer.headers;
    outgoing.writeHead(answer.statusCode, passed);
    outgoing.end(body);
  };
  const server = http.createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    arm(method, fault, onStruck = () => undefined, others = 0) {
      armed = { method, fault, onStruck, others };
      reached = [];
    },
    hasStruck: () => armed === undefined,
    passed: (method) => reached.filter((one) => one === method).length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
