import type { IncomingMessage } from 'node:http';
import type https from 'node:https';
import { TLSSocket } from 'node:tls';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy, type Clock } from '@causeway/base/time/clock';
import {
  sendAnswer,
  startHttpServer,
  type Exchange,
  type HttpServer,
  type RequestLimits,
} from '@causeway/base/http/http-server';
import { ParameterTooLong, Router } from '@causeway/base/http/router';
import type { Log } from '@causeway/base/observability/log';
import type { Allocator } from '../allocator.ts';
import {
  isKnown,
  presentCertificate,
  presentToken,
  type Permission,
  type Presented,
} from '../credential.ts';
import type { Heartbeats } from '../heartbeats.ts';
import type { Platforms } from '../platform/platforms.ts';
import type { Context } from './context.ts';
import { handlers } from './handlers.ts';
import { openApiDocument } from './openapi.ts';
import type { Operation } from './operation.ts';
import { operations, type OperationName } from './operations.ts';
import { problemOf } from './problem.ts';
import { RateLimiter, type RateLimit } from './rate-limit.ts';
import { BodyTooLarge, readJsonBody } from './request-body.ts';
import { refuseLegacyFields } from './legacy.ts';

export interface ApiOptions {
  readonly allocator: Allocator;
  readonly heartbeats: Heartbeats;
  readonly platforms: Platforms;
  readonly clock: Clock;
  readonly log: Log;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** PEM texts. With a client authority, client certificates it signed are credentials once registered. */
  readonly tls?:
    | {
        readonly certificate: string;
        readonly key: string;
        readonly clientAuthority?: string | undefined;
      }
    | undefined;
  readonly rateLimit: RateLimit;
  /** Limit per source for requests without a valid credential, so that guessing takes too long. */
  readonly strangerLimit?: RateLimit;
}

export interface ApiServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The version of the API, sent in a header of every response to a call. */
export const apiVersion = '1.0';
/** The time that calls have to end when the server stops. */
const graceMs = 1_000;
const slowest: RequestLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 72_000,
  connections: 8_192,
};
const strangers: RateLimit = { perSecond: 5, burst: 50 };

export async function startApiServer(options: ApiOptions): Promise<ApiServer> {
  const api: Api = {
    options,
    known: new RateLimiter(options.rateLimit, options.clock),
    strangers: new RateLimiter(options.strangerLimit ?? strangers, options.clock),
  };
  const router = new Router<Handler>();
  const document = openApiDocument();
  router.add('GET', '/openapi.json', (exchange) => sendJson(exchange, 200, document));
  for (const [name, operation] of Object.entries(operations)) {
    router.add(
      operation.method,
      operation.path,
      callHandler(api, name as OperationName, operation),
    );
  }
  const server = await startHttpServer({
    name: 'the API',
    listen: { host: options.host, port: options.port },
    limits: slowest,
    tls: tlsOptions(options),
    async handle(exchange) {
      const { method = 'GET', url = '/' } = exchange.request;
      const { path, query } = splitUrl(url);
      const found = router.find(method, path);
      if (found === undefined) throw new CausewayError('not-found', 'there is no such call');
      await found.target(exchange, { params: found.params, query });
    },
    onFailure: (error, exchange) => answerProblem(exchange, CausewayError.from(error)),
  });
  return { url: server.url, close: () => closeGently(server, options.clock) };
}

/** The parts of a request that come from its URL. */
interface UrlInput {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | string[]>>;
}

type Handler = (exchange: Exchange, input: UrlInput) => Promise<void> | void;

interface Api {
  readonly options: ApiOptions;
  readonly known: RateLimiter;
  readonly strangers: RateLimiter;
}

function tlsOptions({ tls }: ApiOptions): https.ServerOptions | undefined {
  if (tls === undefined) return undefined;
  const { certificate, key, clientAuthority } = tls;
  return {
    cert: certificate,
    key,
    ...(clientAuthority === undefined ? {} : { ca: clientAuthority }),
    requestCert: clientAuthority !== undefined,
    // A client with a token needs no certificate. A certificate that TLS did not verify does not count.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
  };
}

/** A client may send an absolute URL, as to a proxy. */
function splitUrl(url: string): { path: string; query: UrlInput['query'] } {
  const [path = '/', text = ''] = url.replace(/^https?:\/\/[^/]*/, '').split(/[?#]/);
  const search = new URLSearchParams(text);
  const query = Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const [first = '', ...others] = search.getAll(name);
      return [name, others.length === 0 ? first : [first, ...others]];
    }),
  );
  return { path, query };
}

/** The caller of a request, and whether the view of this server lacks the caller's credential. */
interface Admitted {
  readonly caller: Presented;
  readonly isStranger: boolean;
}

/** Identifies the caller before the body is read: a request without a credential costs little. */
function admit({ options: { allocator }, known, strangers: guesses }: Api, exchange: Exchange) {
  let caller: Presented;
  try {
    caller = authenticate(exchange.request);
  } catch (error) {
    enforceLimit(guesses, sourceOf(exchange), exchange);
    throw error;
  }
  // Before the ledger is read. The ledger may have a credential that this server's view lacks as yet.
  const isStranger = !isKnown(allocator.view, caller, allocator.now);
  if (isStranger) enforceLimit(guesses, sourceOf(exchange), exchange);
  // By secret and not by name, so that no caller uses up the limit of another.
  enforceLimit(known, `${caller.id}/${caller.hash}`, exchange);
  return { caller, isStranger } satisfies Admitted;
}

const sourceOf = ({ request }: Exchange): string => request.socket.remoteAddress ?? '';

function callHandler(api: Api, name: OperationName, operation: Operation): Handler {
  const { options } = api;
  const handle = handlers[name] as (context: Context, input: unknown) => Promise<object>;
  return async (exchange, url) => {
    const { request, response, signal } = exchange;
    response.setHeader('causeway-ipam-version', apiVersion);
    const { caller, isStranger } = admit(api, exchange);
    const body = await readJsonBody(request);
    try {
      const input = parseInput(operation, { ...url, body });
      const needs = permissionFor(operation, input.params);
      const answer = await handle({ ...options, caller, needs, signal }, input);
      const waits = 'state' in answer && answer.state === 'waiting';
      sendJson(exchange, waits ? 202 : 200, answer);
    } catch (thrown) {
      const error = signal.aborted ? abortedBy(signal) : CausewayError.from(thrown);
      if (error.code === 'internal') options.log.error({ error, name }, 'a call failed');
      if (error.code === 'unauthorized' && !isStranger) {
        enforceLimit(api.strangers, sourceOf(exchange), exchange);
      }
      throw error;
    }
  };
}

/** Accepts no new calls. Running calls may end; after the grace period, waiting calls are aborted. */
async function closeGently(server: HttpServer, clock: Clock): Promise<void> {
  const stopping = new CausewayError('unavailable', 'this server is stopping: ask another one');
  const timers = [
    clock.timer(graceMs, () => server.abortRequests(stopping)),
    clock.timer(graceMs * 1.5, () => server.cutConnections()),
  ];
  await server.drain();
  for (const timer of timers) timer.cancel();
}

/** The token of the request, else a client certificate that TLS has verified. */
function authenticate(request: IncomingMessage): Presented {
  const [scheme, token] = request.headers.authorization?.split(' ') ?? [];
  if (scheme !== undefined) {
    const presented = scheme === 'Bearer' ? presentToken(token ?? '') : undefined;
    if (presented !== undefined) return presented;
    throw new CausewayError('unauthorized', 'the credential is unknown, revoked or expired');
  }
  const { socket } = request;
  if (socket instanceof TLSSocket && socket.authorized) {
    const certificate = socket.getPeerX509Certificate()?.raw;
    if (certificate !== undefined) return presentCertificate(certificate);
  }
  throw new CausewayError('unauthorized', 'a credential is needed', {
    hint: 'Send "Authorization: Bearer TOKEN", or use a registered client certificate.',
  });
}

/** The required permission depends on the path alone, never on the body. */
function permissionFor(operation: Operation, params: unknown): Permission {
  const { site = '', cluster = '' } = params as { site?: string; cluster?: string };
  switch (operation.access) {
    case 'operator':
      return { kind: 'operator' };
    case 'cluster':
      return { kind: 'cluster', site, cluster };
    case 'site':
      return { kind: 'site', site };
    default:
      throw new CausewayError('internal', 'an access without a permission');
  }
}

function parseInput(operation: Operation, request: UrlInput & { readonly body: unknown }) {
  const parse = (schema: z.ZodType, value: unknown, where: string) => {
    refuseLegacyFields(where, value);
    const result = schema.safeParse(value ?? {});
    if (result.success) return result.data;
    throw new CausewayError('invalid', `${where}: ${z.prettifyError(result.error)}`);
  };
  return {
    params: parse(operation.params, request.params, 'the path'),
    query: parse(operation.query, request.query, 'the query'),
    body: parse(operation.body, request.body, 'the body'),
  };
}

class TooManyRequests extends CausewayError {}

function enforceLimit(limiter: RateLimiter, caller: string, { response }: Exchange): void {
  const verdict = limiter.take(caller);
  if (verdict.allowed) return;
  response.setHeader('retry-after', verdict.retryAfter);
  throw new TooManyRequests('unavailable', 'too many requests', {
    hint: `Try again in ${verdict.retryAfter} s.`,
  });
}

function answerProblem(exchange: Exchange, error: CausewayError): void {
  const { status, problem } = problemOf(error);
  // The client would keep sending the rest of a body that is too large; closing the connection stops it.
  if (error instanceof BodyTooLarge) exchange.response.setHeader('connection', 'close');
  sendJson(exchange, specialStatus(error) ?? status, problem);
}

/** HTTP statuses without an error code. */
function specialStatus(error: CausewayError): number | undefined {
  if (error instanceof TooManyRequests) return 429;
  return error instanceof ParameterTooLong ? 414 : undefined;
}

function sendJson(exchange: Exchange, status: number, body: object): void {
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  sendAnswer(exchange, { status, headers, body: JSON.stringify(body) });
}
