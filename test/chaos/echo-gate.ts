import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { request, type Dispatcher } from 'undici';
import { listen } from '../../packages/base/src/network/listen.ts';

export interface EchoGate {
  readonly port: number;
  /** While it is on, the service gets every request with a change twice. */
  echo(isOn: boolean): void;
  close(): Promise<void>;
}

/** Proxy before a plain HTTP service that can deliver requests twice. */
export async function openEchoGate(target: string): Promise<EchoGate> {
  let isEchoing = false;
  const handle = async (incoming: http.IncomingMessage, outgoing: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const send = () => forward(target, incoming, Buffer.concat(chunks));
    const isChange = incoming.method !== 'GET' && incoming.method !== 'HEAD';
    const answer = await send();
    const body = Buffer.from(await answer.body.arrayBuffer());
    // The second request comes late, like a delayed duplicate.
    if (isEchoing && isChange) await send().then(({ body }) => body.dump());
    const { 'transfer-encoding': _encoding, connection: _connection, ...headers } = answer.headers;
    outgoing.writeHead(answer.statusCode, headers);
    outgoing.end(body);
  };
  const server = http.createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await listen(server);
  return {
    port: (server.address() as AddressInfo).port,
    echo: (isOn) => (isEchoing = isOn),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function forward(
  target: string,
  { method = 'GET', url = '/', headers }: http.IncomingMessage,
  body: Buffer,
): Promise<Dispatcher.ResponseData> {
  const { host: _host, connection: _connection, 'content-length': _length, ...passed } = headers;
  return request(`${target}${url}`, {
    method,
    headers: passed,
    body: body.length === 0 ? null : body,
  });
}
