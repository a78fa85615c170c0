import { actorOf, type Actor } from '../actor.ts';
import { isObject, type Answer, type Call, type JsonObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { Routes } from '../http/routes.ts';
import type { UnroutedCall } from '../http/service-server.ts';
import type { Keystone } from '../keystone/api.ts';
import { unauthenticatedAnswer } from '../keystone/middleware.ts';
import { badRequest, noSuchResource } from './refusals.ts';
import type { NeutronState } from './state.ts';

export type ActorHandler = (call: Call, actor: Actor) => Answer;

/** Neutron's routes, with the token check and Neutron's error format. */
export class NeutronApi {
  readonly state: NeutronState;
  /** Maximum page size, as with `pagination_max_limit`. */
  readonly maxPage: number | undefined;
  private readonly keystone: Keystone;
  private readonly routes = new Routes<ActorHandler>();

  constructor(keystone: Keystone, state: NeutronState, maxPage: number | undefined) {
    this.keystone = keystone;
    this.state = state;
    this.maxPage = maxPage;
  }

  /** Adds a route below `/v2.0`. */
  route(method: string, pattern: string, handler: ActorHandler): void {
    this.routes.add(method, `/v2.0${pattern}`, handler);
  }

  handle(call: UnroutedCall): Answer {
    try {
      return this.dispatch(call);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return refusalAnswer(error);
    }
  }

  private dispatch(call: UnroutedCall): Answer {
    const path = call.path.replace(/\.json$/, '');
    if (path === '/') return versions(call);
    if (!path.startsWith('/v2.0')) return plainNotFound;
    // The token is checked before the path.
    const token = this.keystone.tokens.find(call.headers['x-auth-token'] ?? '');
    if (token === undefined) return unauthenticatedAnswer(this.keystone);
    const found = this.routes.find(call.method, path);
    if (found === 'path') throw noSuchResource();
    if (found === 'method') {
      throw new Refusal(
        405,
        'The server could not comply with the request since it is either malformed or otherwise incorrect.',
        { type: 'HTTPMethodNotAllowed' },
      );
    }
    return found.handler({ ...call, path, parameters: found.parameters }, actorOf(token));
  }
}

/** The body of a create or an update: one object, or a list of objects if the kind allows it. */
export function requestObjects(
  call: Call,
  member: string,
  collection: string,
): { readonly isBulk: boolean; readonly objects: readonly JsonObject[] } {
  if (call.body.kind === 'malformed') throw badRequest('Body contains invalid data');
  const body = call.body.kind === 'json' ? call.body.value : {};
  if (!isObject(body)) throw badRequest('Body contains invalid data');
  const many = body[collection];
  if (Array.isArray(many)) {
    if (many.length === 0) throw badRequest('Resources required');
    return { isBulk: true, objects: many.filter(isObject) };
  }
  const one = body[member];
  if (!isObject(one)) throw badRequest(`Unable to find '${member}' in request body`);
  return { isBulk: false, objects: [one] };
}

function refusalAnswer(refusal: Refusal): Answer {
  const { status, type, message } = refusal;
  return { status, body: { NeutronError: { type, message, detail: '' } } };
}

function versions(call: UnroutedCall): Answer {
  const links = [{ rel: 'self', href: `${call.baseUrl}/v2.0/` }];
  return { status: 200, body: { versions: [{ id: 'v2.0', status: 'CURRENT', links }] } };
}

const plainNotFound: Answer = {
  status: 404,
  text: {
    type: 'text/plain; charset=UTF-8',
    content: '404 Not Found\n\nThe resource could not be found.\n\n   ',
  },
};
