import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { listen } from '../../packages/base/src/network/listen.ts';

export interface Received {
  readonly method: string;
  /** Path and query as sent. */
  readonly url: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: unknown;
  /** Port of the client, which distinguishes connections. */
  readonly connection: number | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON unless it is a string. */
  readonly body?: unknown;
  /** Cuts the connection instead of answering. */
  readonly cut?: boolean;
  /** Cuts the connection after the answer has begun. */
  readonly breakOff?: boolean;
  /** Held until the client gives up. */
  readonly hang?: boolean;
}

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
  close(): Promise<void>;
}

/** An HTTP server on a free port with answers from the test. */
export async function startScriptedServer(
  answer: (request: Received) => Answer | Promise<Answer>,
  tls?: https.ServerOptions,
): Promise<ScriptedServer> {
  const received: Received[] = [];
  const handle = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const url = new URL(request.url ?? '/', 'http://localhost');
    const entry: Received = {
      method: request.method ?? '',
      url: request.url ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
      connection: request.socket.remotePort,
    };
    received.push(entry);
    const { status, headers = {}, body, cut, hang, breakOff } = await answer(entry);
    if (hang === true) return;
    if (cut === true) {
      request.socket.destroy();
      return;
    }
    const payload = typeof body === 'string' ? body : JSON.stringify(body ?? {});
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    if (breakOff === true) {
      response.write(payload, () => request.socket.destroy());
      return;
    }
    response.end(status === 204 ? undefined : payload);
  };
  const listener: http.RequestListener = (request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(599).end(String(error));
    });
  };
  const server =
    tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  await listen(server);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const { port } = server.address() as AddressInfo;
  const scheme = tls === undefined ? 'http' : 'https';
  return { url: `${scheme}://127.0.0.1:${port}`, received, close, [Symbol.asyncDispose]: close };
}
