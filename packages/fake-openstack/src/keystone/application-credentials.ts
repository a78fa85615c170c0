import { parameter, type Answer, type Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { bodyOf, forbidden, isAdmin, list, v3, type Keystone } from './api.ts';
import type { Token } from './tokens.ts';
import { applicationCredentialView } from './views.ts';

/** A user's own application credentials, bound to the project of the token that made them. */
export function addApplicationCredentialRoutes(keystone: Keystone): void {
  const { directory } = keystone;
  const collection = '/users/:userId/application_credentials';
  const owner = (call: Call, token: Token, rule: string): string => {
    const userId = parameter(call, 'userId');
    if (token.user.id !== userId && !isAdmin(token)) throw forbidden(rule);
    return userId;
  };
  const find = (call: Call) => {
    const id = parameter(call, 'id');
    const credential = directory.applicationCredentials.get(id);
    if (credential?.user_id !== parameter(call, 'userId')) {
      throw new Refusal(404, `Could not find Application Credential: ${id}.`);
    }
    return credential;
  };

  keystone.route('GET', collection, (call, token) => {
    const userId = owner(call, token, 'identity:list_application_credentials');
    const found = directory.applicationCredentials
      .by('user', userId)
      .filter((row) => call.query.get('name') === null || row.name === call.query.get('name'));
    const views = found.map((row) => applicationCredentialView(row, v3(call)));
    return list(call, 'application_credentials', views);
  });
  keystone.route('POST', collection, (call, token) => create(keystone, call, token));
  keystone.route('GET', `${collection}/:id`, (call, token) => {
    owner(call, token, 'identity:get_application_credential');
    const view = applicationCredentialView(find(call), v3(call));
    return { status: 200, body: { application_credential: view } };
  });
  keystone.route('DELETE', `${collection}/:id`, (call, token) => {
    owner(call, token, 'identity:delete_application_credential');
    const { id } = find(call);
    directory.applicationCredentials.delete(id);
    keystone.tokens.revokeWhere((issued) => issued.applicationCredential?.id === id);
    return { status: 204 };
  });
}

function create(keystone: Keystone, call: Call, token: Token): Answer {
  const userId = parameter(call, 'userId');
  if (token.user.id !== userId || token.scope.kind !== 'project') {
    throw forbidden('identity:create_application_credential');
  }
  if (token.applicationCredential?.unrestricted === false) throw forbidden();
  const wanted = readWanted(call);
  if (keystone.directory.applicationCredentials.count('name', `${userId}/${wanted.name}`) > 0) {
    throw new Refusal(
      409,
      `Conflict occurred attempting to store application_credential - Duplicate entry found with name ${wanted.name}.`,
    );
  }
  const credential = keystone.directory.addApplicationCredential({
    ...wanted,
    user_id: userId,
    project_id: token.scope.project.id,
    roles: token.roles,
  });
  const view = {
    ...applicationCredentialView(credential, v3(call)),
    secret: credential.secret,
  };
  return { status: 201, body: { application_credential: view } };
}

function readWanted(call: Call) {
  const { name, description, secret, expires_at, unrestricted } = bodyOf(
    call,
    'application_credential',
  ) as Record<string, unknown>;
  if (typeof name !== 'string') throw new Refusal(400, "'name' is a required property");
  return {
    name,
    description: typeof description === 'string' ? description : null,
    expiresAt: typeof expires_at === 'string' ? Date.parse(`${expires_at}Z`) : undefined,
    unrestricted: unrestricted === true,
    ...(typeof secret === 'string' ? { secret } : {}),
  };
}
