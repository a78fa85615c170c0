import type { Clock } from '@causeway/base/time/clock';
import { isObject, type Answer, type Call, type Handler, type JsonObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { Routes } from '../http/routes.ts';
import type { UnroutedCall } from '../http/service-server.ts';
import { unauthenticated } from './authenticate.ts';
import { Catalog } from './catalog.ts';
import { Directory } from './directory.ts';
import { Tokens, type Token } from './tokens.ts';

export interface KeystoneOptions {
  readonly clock: Clock;
  readonly tokenLifetimeMs: number;
  readonly region: string;
}

/** A handler that requires a token. */
export type AuthenticatedHandler = (call: Call, token: Token) => Answer;

/** Keystone's state and routes. */
export class Keystone {
  readonly clock: Clock;
  readonly directory = new Directory();
  readonly tokens: Tokens;
  readonly catalog: Catalog;
  private readonly routes = new Routes<Handler>();

  constructor(options: KeystoneOptions) {
    this.clock = options.clock;
    this.tokens = new Tokens(options.clock, options.tokenLifetimeMs);
    this.catalog = new Catalog(options.region);
  }

  handle(call: UnroutedCall): Answer {
    try {
      return addHeaders(this.dispatch(call));
    } catch (error) {
      if (error instanceof Refusal) return addHeaders(refusalAnswer(error, call));
      throw error;
    }
  }

  /** Adds a route without authentication. */
  openRoute(method: string, path: string, handler: Handler): void {
    this.routes.add(method, path, handler);
  }

  /** Adds a route of `/v3` that requires a token. */
  route(method: string, pattern: string, handler: AuthenticatedHandler): void {
    this.routes.add(method, `/v3${pattern}`, (call) => handler(call, this.tokenOf(call)));
  }

  /** Adds a route of `/v3` for administrators. Keystone names the rule in its rejection. */
  adminRoute(method: string, pattern: string, rule: string, handler: Handler): void {
    this.route(method, pattern, (call, token) => {
      if (!isAdmin(token)) throw forbidden(rule);
      return handler(call);
    });
  }

  private dispatch(call: UnroutedCall): Answer {
    const method = call.method === 'HEAD' ? 'GET' : call.method;
    const found = this.routes.find(method, call.path);
    if (found === 'path') return htmlNotFound;
    if (found === 'method') {
      return {
        status: 405,
        body: { message: 'The method is not allowed for the requested URL.' },
      };
    }
    return found.handler({ ...call, parameters: found.parameters });
  }

  private tokenOf(call: Call): Token {
    const token = this.tokens.find(call.headers['x-auth-token'] ?? '');
    if (token === undefined) throw unauthenticated();
    return token;
  }
}

export function isAdmin(token: Token): boolean {
  return token.roles.some((role) => role.name === 'admin');
}

export function forbidden(rule?: string): Refusal {
  const what = rule === undefined ? '' : `: ${rule}`;
  return new Refusal(403, `You are not authorized to perform the requested action${what}.`);
}

export function v3(call: Call): string {
  return `${call.baseUrl}/v3`;
}

/** Keystone returns all items on one page, with links that have no next or previous page. */
export function list(call: Call, name: string, items: readonly unknown[]): Answer {
  const query = call.query.size === 0 ? '' : `?${call.query.toString()}`;
  const links = { next: null, self: `${call.baseUrl}${call.path}${query}`, previous: null };
  return { status: 200, body: { [name]: items, links } };
}

export function requestBody(call: Call): unknown {
  if (call.body.kind === 'malformed') {
    throw new Refusal(
      400,
      'Expecting to find valid JSON in request body. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.',
    );
  }
  return call.body.kind === 'json' ? call.body.value : undefined;
}

/** The object below the kind's name in the body. */
export function bodyOf(call: Call, kind: string): JsonObject {
  const body = requestBody(call);
  const inner = isObject(body) ? body[kind] : undefined;
  if (!isObject(inner)) throw new Refusal(400, `'${kind}' is a required property`);
  return inner;
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
};

function refusalAnswer(refusal: Refusal, call: UnroutedCall): Answer {
  return {
    status: refusal.status,
    headers:
      refusal.status === 401 ? { 'www-authenticate': `Keystone uri="${call.baseUrl}/v3"` } : {},
    body: {
      error: {
        code: refusal.status,
        message: refusal.message,
        title: titles[refusal.status] ?? 'Error',
      },
    },
  };
}

const htmlNotFound: Answer = {
  status: 404,
  text: {
    type: 'text/html; charset=utf-8',
    content:
      '<!doctype html>\n<html lang=en>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n<p>The requested URL was not found on the server.</p>\n',
  },
};

function addHeaders(answer: Answer): Answer {
  return { ...answer, headers: { vary: 'X-Auth-Token', ...answer.headers } };
}
