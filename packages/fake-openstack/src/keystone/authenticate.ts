import type { Clock } from '@causeway/base/time/clock';
import { isObject, type JsonObject } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import type { ApplicationCredential, Directory, Domain, Project, User } from './directory.ts';
import type { Token, TokenRequest, TokenScope, Tokens } from './tokens.ts';

export interface Authentication {
  readonly directory: Directory;
  readonly tokens: Tokens;
  readonly clock: Clock;
}

interface Proof {
  readonly user: User;
  readonly methods: readonly string[];
  readonly parent?: Token;
  readonly credential?: ApplicationCredential;
}

/** Keystone doesn't disclose the reason of a failed authentication. */
export function unauthenticated(message?: string): Refusal {
  return new Refusal(401, message ?? 'The request you have made requires authentication.');
}

function expecting(what: string): Refusal {
  return new Refusal(
    400,
    `Expecting to find ${what}. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );
}

/** Creates a token from the body of `POST /v3/auth/tokens`. */
export function authenticate(context: Authentication, body: unknown): Token {
  const auth = isObject(body) ? body['auth'] : undefined;
  if (!isObject(auth)) throw expecting('auth in request body');
  const identity = auth['identity'];
  if (!isObject(identity)) throw expecting('identity in auth');
  const proof = prove(context, identity);
  const scope = readScope(context.directory, auth['scope'], proof);
  return context.tokens.issue(tokenRequest(context.directory, proof, scope));
}

function prove(context: Authentication, identity: JsonObject): Proof {
  const methods = identity['methods'];
  const method: unknown = Array.isArray(methods) ? methods[0] : undefined;
  if (typeof method !== 'string') throw expecting('methods in identity');
  const details = identity[method];
  if (!isObject(details)) throw expecting(`${method} in identity`);
  switch (method) {
    case 'password':
      return byPassword(context.directory, details);
    case 'token':
      return byToken(context.tokens, details);
    case 'application_credential':
      return byApplicationCredential(context, details);
    default:
      throw unauthenticated();
  }
}

function byPassword(directory: Directory, details: JsonObject): Proof {
  const wanted = details['user'];
  if (!isObject(wanted)) throw expecting('user in password');
  const user = findUser(directory, wanted);
  if (user === undefined || !user.enabled || user.password !== wanted['password']) {
    throw unauthenticated();
  }
  return { user, methods: ['password'] };
}

function byToken(tokens: Tokens, details: JsonObject): Proof {
  const id = details['id'];
  const parent = typeof id === 'string' ? tokens.find(id) : undefined;
  if (parent === undefined) throw new Refusal(404, 'Could not recognize Fernet token');
  if (parent.applicationCredential !== undefined) throw unauthenticated();
  const methods = ['token', ...parent.methods.filter((method) => method !== 'token')];
  return { user: parent.user, methods, parent };
}

function byApplicationCredential(context: Authentication, details: JsonObject): Proof {
  const { directory, clock } = context;
  const credential = findCredential(directory, details);
  if (credential === undefined) {
    const id = details['id'];
    if (typeof id === 'string') {
      throw new Refusal(404, `Could not find Application Credential: ${id}.`);
    }
    throw unauthenticated();
  }
  const user = directory.users.get(credential.user_id);
  const hasExpired = credential.expiresAt !== undefined && credential.expiresAt <= clock.wallTime();
  if (user?.enabled !== true || hasExpired || details['secret'] !== credential.secret) {
    throw unauthenticated();
  }
  return { user, methods: ['application_credential'], credential };
}

function findCredential(
  directory: Directory,
  details: JsonObject,
): ApplicationCredential | undefined {
  const { id, name, user: owner } = details as Record<string, unknown>;
  if (typeof id === 'string') return directory.applicationCredentials.get(id);
  if (typeof name !== 'string' || !isObject(owner))
    throw expecting('user in application_credential');
  const user = findUser(directory, owner);
  if (user === undefined) return undefined;
  return directory.applicationCredentials.by('name', `${user.id}/${name}`)[0];
}

function findUser(directory: Directory, wanted: JsonObject): User | undefined {
  const { id, name } = wanted as Record<string, unknown>;
  if (typeof id === 'string') return directory.users.get(id);
  if (typeof name !== 'string') throw expecting('id or name in user');
  const domain = findDomain(directory, wanted['domain'], 'user');
  return domain === undefined ? undefined : directory.findUser(domain.id, name);
}

function findDomain(directory: Directory, wanted: unknown, where: string): Domain | undefined {
  if (!isObject(wanted)) throw expecting(`domain in ${where}`);
  const { id, name } = wanted as Record<string, unknown>;
  if (typeof id === 'string') return directory.domains.get(id);
  if (typeof name === 'string') return directory.domains.by('name', name)[0];
  throw expecting('id or name in domain');
}

function readScope(directory: Directory, wanted: unknown, proof: Proof): TokenScope {
  if (proof.credential !== undefined) {
    if (wanted !== undefined) {
      throw unauthenticated(
        'Error authenticating with application credential: Application credentials cannot request a scope.',
      );
    }
    const project = directory.projects.get(proof.credential.project_id);
    if (project === undefined) throw unauthenticated();
    return { kind: 'project', project };
  }
  if (!isObject(wanted)) return { kind: 'unscoped' };
  if (isObject(wanted['system'])) return { kind: 'system' };
  if (isObject(wanted['project'])) {
    const project = findProject(directory, wanted['project']);
    if (project?.enabled !== true) throw unauthenticated();
    return { kind: 'project', project };
  }
  const domain = findDomain(directory, wanted['domain'], 'scope');
  if (domain === undefined) throw unauthenticated();
  return { kind: 'domain', domain };
}

function findProject(directory: Directory, wanted: JsonObject): Project | undefined {
  const { id, name } = wanted as Record<string, unknown>;
  if (typeof id === 'string') return directory.projects.get(id);
  if (typeof name !== 'string') throw expecting('id or name in project');
  const domain = findDomain(directory, wanted['domain'], 'project');
  return domain === undefined ? undefined : directory.findProject(domain.id, name);
}

/** Rejects a scope in which the user has no role. This implementation has no roles for domains. */
function tokenRequest(directory: Directory, proof: Proof, scope: TokenScope): TokenRequest {
  const roles = rolesIn(directory, proof, scope);
  if (scope.kind !== 'unscoped' && roles.length === 0) throw unauthenticated();
  return {
    user: proof.user,
    scope,
    roles,
    methods: proof.methods,
    applicationCredential: proof.credential,
    ...(proof.parent === undefined ? {} : { parent: proof.parent }),
  };
}

function rolesIn(directory: Directory, { user, credential }: Proof, scope: TokenScope) {
  switch (scope.kind) {
    case 'unscoped':
    case 'domain':
      return [];
    case 'project':
      return credential?.roles ?? directory.rolesOf(user.id, scope.project.id);
    case 'system':
      return directory
        .projectsOf(user.id)
        .flatMap((project) => directory.rolesOf(user.id, project.id))
        .some((role) => role.name === 'admin')
        ? [directory.role('admin'), directory.role('member'), directory.role('reader')]
        : [];
    default:
      return scope satisfies never;
  }
}
