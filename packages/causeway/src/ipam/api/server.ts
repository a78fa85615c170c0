import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { abortedBy, type Clock } from '@causeway/base/time/clock';
import { limitRequests, type RequestLimits } from '@causeway/base/http/http-limits';
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

export interface ApiOptions {
  readonly allocator: Allocator;
  readonly heartbeats: Heartbeats;
  readonly platforms: Platforms;
  readonly clock: Clock;
  readonly log: Log;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /**
   * PEM texts. With a client authority, client certificates that it signed can be registered as credentials.
   */
  readonly tls?:
    | {
        readonly certificate: string;
        readonly key: string;
        readonly clientAuthority?: string | undefined;
      }
    | undefined;
  readonly rateLimit: RateLimit;
  /** For requests without a valid credential, by source address, against guessing. */
  readonly strangerLimit?: RateLimit;
}

export interface ApiServer {
  readonly url: string;
  close(): Promise<void>;
}

/** The version of the API, in a header of every answer. A client may send its own version. */
export const apiVersion = '1.0';
const largestBody = 1024 * 1024;
/** Time that running calls have to end when the server stops. */
const graceMs = 1_000;
const slowest: RequestLimits = { headersMs: 10_000, requestMs: 30_000, connections: 8_192 };
const strangers: RateLimit = { perSecond: 5, burst: 50 };

export async function startApiServer(options: ApiOptions): Promise<ApiServer> {
  const { tls } = options;
  const app = Fastify({
    bodyLimit: largestBody,
    ...(tls === undefined
      ? {}
      : {
          https: {
            cert: tls.certificate,
            key: tls.key,
            ...(tls.clientAuthority === undefined ? {} : { ca: tls.clientAuthority }),
            requestCert: tls.clientAuthority !== undefined,
            // Callers with tokens have no certificate. A certificate that was not verified is ignored.
            rejectUnauthorized: false,
            minVersion: 'TLSv1.2',
          },
        }),
  }) as unknown as FastifyInstance;
  const underWay = new Set<AbortController>();
  const limits = {
    underWay,
    known: new RateLimiter(options.rateLimit, options.clock),
    strangers: new RateLimiter(options.strangerLimit ?? strangers, options.clock),
  };
  const document = openApiDocument();
  app.get('/openapi.json', () => document);
  app.setNotFoundHandler((_request, reply) => {
    const error = new CausewayError('not-found', 'there is no such call');
    return answerProblem(reply, error);
  });
  app.setErrorHandler((error, _request, reply) => answerProblem(reply, fromFastify(error)));
  for (const [name, operation] of Object.entries(operations)) {
    serve(app, options, limits, name as OperationName, operation);
  }
  limitRequests(app.server, slowest);
  await app.listen({ host: options.host, port: options.port }).catch((error: unknown) => {
    const { message } = CausewayError.from(error);
    throw new CausewayError('unavailable', `can't serve the API: ${message}`, { cause: error });
  });
  const { address, family, port } = app.server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host}:${port}`,
    close: () => closeGently(app, underWay, options.clock),
  };
}

interface Limits {
  readonly known: RateLimiter;
  readonly strangers: RateLimiter;
  readonly underWay: Set<AbortController>;
}

/** The caller, and whether this server's view does not have its credential (yet). */
interface Asker {
  readonly caller: Presented;
  readonly isStranger: boolean;
}

/** Identifies the caller before the body is read, so that a rejected request costs little. */
function admit(
  { allocator }: ApiOptions,
  limits: Limits,
  request: FastifyRequest,
  reply: FastifyReply,
): Asker {
  let caller: Presented;
  try {
    caller = authenticate(request);
  } catch (error) {
    enforceLimit(limits.strangers, request.ip, reply);
    throw error;
  }
  // Checked before the ledger is asked. A credential that only the ledger has yet may still pass.
  const isStranger = !isKnown(allocator.view, caller, allocator.now);
  if (isStranger) enforceLimit(limits.strangers, request.ip, reply);
  // By secret and not by name, so that no caller can use up the limit of another.
  enforceLimit(limits.known, `${caller.id}/${caller.hash}`, reply);
  return { caller, isStranger };
}

function serve(
  app: FastifyInstance,
  options: ApiOptions,
  limits: Limits,
  name: OperationName,
  operation: Operation,
): void {
  const handle = handlers[name] as (context: Context, input: unknown) => Promise<object>;
  const askers = new WeakMap<FastifyRequest, Asker>();
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    async onRequest(request, reply) {
      reply.header('causeway-ipam-version', apiVersion);
      askers.set(request, admit(options, limits, request, reply));
    },
    async handler(request, reply) {
      const gone = new AbortController();
      limits.underWay.add(gone);
      reply.raw.on('close', () => {
        limits.underWay.delete(gone);
        if (!reply.raw.writableFinished) gone.abort();
      });
      const { caller, isStranger } = askers.get(request) ?? admit(options, limits, request, reply);
      try {
        const input = parseInput(operation, request);
        const needs = permissionFor(operation, input.params);
        const context = { ...options, caller, needs, signal: gone.signal };
        const answer = await handle(context, input);
        const waits = 'state' in answer && answer.state === 'waiting';
        return await reply.code(waits ? 202 : 200).send(answer);
      } catch (thrown) {
        const error = gone.signal.aborted ? abortedBy(gone.signal) : CausewayError.from(thrown);
        if (error.code === 'internal') options.log.error({ error, name }, 'call failed');
        if (error.code === 'unauthorized' && !isStranger) {
          enforceLimit(limits.strangers, request.ip, reply);
        }
        return answerProblem(reply, error);
      }
    },
  });
}

/**
 * Accepts no new calls. Running calls may end, and calls that wait for an address are sent to another server.
 */
async function closeGently(
  app: FastifyInstance,
  underWay: ReadonlySet<AbortController>,
  clock: Clock,
): Promise<void> {
  const stopping = new CausewayError('unavailable', 'this server is stopping: ask another one');
  const timers = [
    clock.timer(graceMs, () => {
      for (const call of underWay) call.abort(stopping);
    }),
    // Idle keep-alive connections would keep the server running.
    clock.timer(graceMs * 1.5, () => app.server.closeAllConnections()),
  ];
  await app.close();
  for (const timer of timers) timer.cancel();
}

/** The token, if present, else the client certificate that the TLS layer has verified. */
function authenticate(request: FastifyRequest): Presented {
  const [scheme, token] = request.headers.authorization?.split(' ') ?? [];
  if (scheme !== undefined) {
    const presented = scheme === 'Bearer' ? presentToken(token ?? '') : undefined;
    if (presented !== undefined) return presented;
    throw new CausewayError('unauthorized', 'the credential is unknown, revoked or expired');
  }
  const { socket } = request.raw;
  if (socket instanceof TLSSocket && socket.authorized) {
    const certificate = socket.getPeerX509Certificate()?.raw;
    if (certificate !== undefined) return presentCertificate(certificate);
  }
  throw new CausewayError('unauthorized', 'a credential is needed', {
    hint: 'Send "Authorization: Bearer TOKEN", or use a registered client certificate.',
  });
}

/** The required permission follows from the path only, never from the body. */
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

function parseInput(operation: Operation, request: FastifyRequest) {
  const parse = (schema: z.ZodType, value: unknown, where: string) => {
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

function enforceLimit(limiter: RateLimiter, caller: string, reply: FastifyReply): void {
  const verdict = limiter.take(caller);
  if (verdict.allowed) return;
  reply.header('retry-after', verdict.retryAfter);
  throw new TooManyRequests('unavailable', 'too many requests', {
    hint: `Try again in ${verdict.retryAfter} s.`,
  });
}

function answerProblem(reply: FastifyReply, error: CausewayError): FastifyReply {
  const { status, problem } = problemOf(error);
  return reply.code(error instanceof TooManyRequests ? 429 : status).send(problem);
}

/** Fastify's own errors: malformed JSON, a body that is too large. */
function fromFastify(error: unknown): CausewayError {
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  const known = CausewayError.from(error);
  return status < 500 ? new CausewayError('invalid', known.message) : known;
}
