import { actorOf, type Actor } from '../actor.ts';
import { isObject, type Answer, type Call, type JsonObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { Routes } from '../http/routes.ts';
import type { UnroutedCall } from '../http/service-server.ts';
import type { Keystone } from '../keystone/api.ts';
import { unauthenticatedAnswer } from '../keystone/middleware.ts';
import type { NeutronState } from '../neutron/state.ts';
import type { Offerings } from './offerings.ts';
import type { Provisioning } from './provisioning.ts';
import { invalid, policyRefusal } from './refusals.ts';
import type { OctaviaState } from './state.ts';

export type ActorHandler = (call: Call, actor: Actor) => Answer;

export interface OctaviaParts {
  readonly keystone: Keystone;
  readonly neutron: NeutronState;
  readonly state: OctaviaState;
  readonly provisioning: Provisioning;
  readonly offerings: Offerings;
  /** The project of Octavia's own Neutron ports and security groups. */
  readonly serviceProjectId: string;
  readonly maxPage: number;
  /** The highest minor version of the API in the root document. */
  readonly minorVersion: number;
}

/** Octavia's routes. */
export class OctaviaApi {
  readonly parts: OctaviaParts;
  private readonly routes = new Routes<ActorHandler>();

  constructor(parts: OctaviaParts) {
    this.parts = parts;
  }

  get state(): OctaviaState {
    return this.parts.state;
  }

  /** Adds a route below `/v2/lbaas`. It is also served below `/v2.0/lbaas`. */
  route(method: string, pattern: string, handler: ActorHandler): void {
    for (const version of ['v2', 'v2.0']) {
      this.routes.add(method, `/${version}/lbaas${pattern}`, handler);
    }
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
    if (call.path === '/') return versions(call, this.parts.minorVersion);
    const { keystone } = this.parts;
    const token = keystone.tokens.find(call.headers['x-auth-token'] ?? '');
    if (token === undefined) return unauthenticatedAnswer(keystone);
    const found = this.routes.find(call.method, call.path);
    if (found === 'path') return plainNotFound;
    if (found === 'method') return { status: 405, body: fault(405, 'Method Not Allowed') };
    const actor = actorOf(token);
    if (!mayBalance(actor)) throw policyRefusal();
    return found.handler({ ...call, parameters: found.parameters }, actor);
  }
}

function mayBalance(actor: Actor): boolean {
  return actor.isAdmin || actor.roles.has('load-balancer_member');
}

export function requireOwner(row: { project_id: string }, actor: Actor): void {
  if (!actor.isAdmin && row.project_id !== actor.projectId) throw policyRefusal();
}

/** The object below the kind's name in the body. */
export function bodyObject(call: Call, kind: string): JsonObject {
  if (call.body.kind === 'malformed') throw invalid('Request is not in valid JSON format');
  const body = call.body.kind === 'json' && isObject(call.body.value) ? call.body.value : {};
  const inner = body[kind];
  if (!isObject(inner)) {
    // The real Octavia fails on the missing argument here.
    throw new Refusal(500, "'UnsetType' object has no attribute 'project_id'");
  }
  return inner;
}

function fault(status: number, message: string): object {
  const faultcode = status >= 500 ? 'Server' : 'Client';
  return { faultcode, faultstring: message, debuginfo: null };
}

function refusalAnswer(refusal: Refusal): Answer {
  const { status, message } = refusal;
  if (!refusal.plain) return { status, body: fault(status, message) };
  return {
    status,
    text: {
      type: 'text/plain; charset=UTF-8',
      content: `${status} Bad Request\n\nThe server could not comply with the request since it is either malformed or otherwise incorrect.\n\n ${message}  `,
    },
  };
}

function versions(call: UnroutedCall, minor: number): Answer {
  const links = [{ href: `${call.baseUrl}/v2`, rel: 'self' }];
  const all = Array.from({ length: minor + 1 }, (_, index) => ({
    id: `v2.${index}`,
    status: index === minor ? 'CURRENT' : 'SUPPORTED',
    updated: '2022-08-29T00:00:00Z',
    links,
  }));
  return { status: 200, body: { versions: all } };
}

const plainNotFound: Answer = {
  status: 404,
  text: {
    type: 'text/plain; charset=UTF-8',
    content: '404 Not Found\n\nThe resource could not be found.\n\n   ',
  },
};
