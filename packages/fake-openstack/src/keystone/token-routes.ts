import type { Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import { forbidden, isAdmin, list, requestBody, v3, type Keystone } from './api.ts';
import { authenticate } from './authenticate.ts';
import type { Token } from './tokens.ts';
import { domainView, projectView, tokenView } from './views.ts';

/** Routes for version documents, tokens, and the projects, domains and catalog of a token. */
export function addTokenRoutes(keystone: Keystone): void {
  addOpenRoutes(keystone);
  keystone.route('GET', '/auth/tokens', (call, token) => {
    const found = subject(keystone, call, token, 'identity:validate_token');
    return {
      status: 200,
      headers: { 'x-subject-token': found.id },
      body: { token: tokenView(found, keystone.directory, keystone.catalog) },
    };
  });
  keystone.route('DELETE', '/auth/tokens', (call, token) => {
    keystone.tokens.revoke(subject(keystone, call, token, 'identity:revoke_token').id);
    return { status: 204 };
  });
  keystone.route('GET', '/auth/projects', (call, token) => {
    const projects = keystone.directory.projectsOf(token.user.id);
    return list(
      call,
      'projects',
      projects.map((project) => projectView(project, v3(call))),
    );
  });
  keystone.route('GET', '/auth/domains', (call, token) => {
    const domains = isAdmin(token) ? keystone.directory.domains.all() : [];
    return list(
      call,
      'domains',
      domains.map((domain) => domainView(domain, v3(call))),
    );
  });
  keystone.route('GET', '/auth/catalog', (call, token) => {
    if (token.scope.kind === 'unscoped') throw forbidden();
    const links = { self: `${v3(call)}/auth/catalog` };
    return { status: 200, body: { catalog: keystone.catalog.services, links } };
  });
}

function addOpenRoutes(keystone: Keystone): void {
  keystone.openRoute('GET', '/', (call) => ({
    status: 300,
    headers: { location: `${v3(call)}/` },
    body: { versions: { values: [versionDocument(call)] } },
  }));
  keystone.openRoute('GET', '/v3', (call) => ({
    status: 200,
    body: { version: versionDocument(call) },
  }));
  keystone.openRoute('POST', '/v3/auth/tokens', (call) => {
    const token = authenticate(keystone, requestBody(call));
    return {
      status: 201,
      headers: { 'x-subject-token': token.id },
      body: { token: tokenView(token, keystone.directory, keystone.catalog) },
    };
  });
}

function subject(keystone: Keystone, call: Call, token: Token, rule: string): Token {
  const found = keystone.tokens.find(call.headers['x-subject-token'] ?? '');
  if (found === undefined) throw new Refusal(404, 'Could not recognize Fernet token');
  if (found.user.id !== token.user.id && !isAdmin(token)) throw forbidden(rule);
  return found;
}

function versionDocument(call: Call): object {
  return {
    id: 'v3.14',
    status: 'stable',
    updated: '2020-04-07T00:00:00Z',
    links: [{ rel: 'self', href: `${v3(call)}/` }],
    'media-types': [
      { base: 'application/json', type: 'application/vnd.openstack.identity-v3+json' },
    ],
  };
}
