import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { limitRequests } from '@causeway/base/http/http-limits';
import { listenPlace } from '../listen-place.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpResponder {
  readonly port: number;
  close(): Promise<void>;
}

export interface ResponderOptions {
  /** All addresses of the machine when left out. */
  readonly host?: string | undefined;
  /** 0 takes a free one. */
  readonly port: number;
  readonly answer: (path: string) => HttpAnswer | Promise<HttpAnswer>;
}

/** Answers GET and HEAD by their path; nothing a client sends is read. */
export async function startResponder(options: ResponderOptions): Promise<HttpResponder> {
  const server = http.createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    Promise.resolve(isRead ? options.answer(path) : { status: 405, body: '' }).then(
      ({ status, headers, body }) => {
        response.writeHead(status, { 'x-content-type-options': 'nosniff', ...headers });
        response.end(request.method === 'HEAD' ? undefined : body);
      },
      () => response.writeHead(500).end(),
    );
  });
  limitRequests(server, { headersMs: 10_000, requestMs: 10_000, connections: 512 });
  await listen(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: http.Server, { host, port }: ResponderOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const place = host === undefined ? `port ${port}` : `${host}:${port}`;
    server.once('error', (cause) =>
      reject(
        new CausewayError('unavailable', `can't listen on ${place}: ${cause.message}`, {
          cause,
          hint: 'Another process may hold the port, kube-proxy for one.',
        }),
      ),
    );
    server.listen(listenPlace(port, host), resolve);
  });
}
