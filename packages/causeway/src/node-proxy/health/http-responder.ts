import {
  sendAnswer,
  startHttpServer,
  type HttpServer,
  type TextAnswer,
} from '@causeway/base/http/http-server';
import { listenPlace } from '../listen-place.ts';

export interface ResponderOptions {
  /** All addresses of the machine by default. */
  readonly host?: string | undefined;
  /** 0 selects a free port. */
  readonly port: number;
  readonly answer: (path: string) => TextAnswer | Promise<TextAnswer>;
}

/** Answers GET and HEAD by their path; request bodies are not read. */
export function startResponder(options: ResponderOptions): Promise<HttpServer> {
  return startHttpServer({
    name: 'health',
    hint: 'Another process may hold the port, kube-proxy for one.',
    listen: listenPlace(options.port, options.host),
    limits: { headersMs: 10_000, requestMs: 10_000, connections: 512 },
    async handle(exchange) {
      const { method, url = '/' } = exchange.request;
      const isRead = method === 'GET' || method === 'HEAD';
      const found = isRead ? await options.answer(url.split('?')[0] ?? '/') : notAllowed;
      const headers = { 'x-content-type-options': 'nosniff', ...found.headers };
      sendAnswer(exchange, { ...found, headers });
    },
  });
}

const notAllowed: TextAnswer = { status: 405, body: '' };
