import type { Catalog } from './catalog.ts';
import type { ApplicationCredential, Directory, Domain, Project, Role, User } from './directory.ts';
import type { Token } from './tokens.ts';

type View = Record<string, unknown>;

/** The time format of Keystone: `2026-11-15T12:00:41.000000Z`. */
function keystoneTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, '.000000Z');
}

export function tokenView(token: Token, directory: Directory, catalog: Catalog): View {
  const domainOf = (id: string) => ({ id, name: directory.domains.get(id)?.name ?? id });
  const view: View = {
    methods: token.methods,
    user: {
      domain: domainOf(token.user.domain_id),
      id: token.user.id,
      name: token.user.name,
      password_expires_at: null,
    },
    audit_ids: token.auditIds,
    expires_at: keystoneTime(token.expiresAt),
    issued_at: keystoneTime(token.issuedAt),
  };
  if (token.scope.kind === 'unscoped') return view;
  view['roles'] = token.roles.map(({ id, name }) => ({ id, name }));
  view['catalog'] = catalog.services;
  if (token.scope.kind === 'project') {
    const { id, name, domain_id } = token.scope.project;
    view['project'] = { domain: domainOf(domain_id), id, name };
    view['is_domain'] = false;
  } else if (token.scope.kind === 'domain') {
    view['domain'] = { id: token.scope.domain.id, name: token.scope.domain.name };
  } else {
    view['system'] = { all: true };
  }
  if (token.applicationCredential !== undefined) {
    const { id, name, unrestricted } = token.applicationCredential;
    view['application_credential'] = { id, name, restricted: !unrestricted };
  }
  return view;
}

export function projectView(project: Project, base: string): View {
  return {
    ...project,
    parent_id: project.domain_id,
    is_domain: false,
    tags: [],
    options: {},
    links: { self: `${base}/projects/${project.id}` },
  };
}

export function domainView(domain: Domain, base: string): View {
  return { ...domain, tags: [], options: {}, links: { self: `${base}/domains/${domain.id}` } };
}

export function userView({ id, name, domain_id, enabled }: User, base: string): View {
  return {
    id,
    name,
    domain_id,
    enabled,
    password_expires_at: null,
    options: {},
    links: { self: `${base}/users/${id}` },
  };
}

export function roleView(role: Role, base: string): View {
  return {
    ...role,
    domain_id: null,
    description: null,
    options: {},
    links: { self: `${base}/roles/${role.id}` },
  };
}

/** The secret is returned only on creation. */
export function applicationCredentialView(credential: ApplicationCredential, base: string): View {
  const { id, name, description, user_id, project_id, expiresAt } = credential;
  return {
    id,
    name,
    description,
    user_id,
    project_id,
    system: null,
    expires_at: expiresAt === undefined ? null : keystoneTime(expiresAt).replace('Z', ''),
    unrestricted: credential.unrestricted ? true : null,
    roles: credential.roles.map((role) => ({
      ...role,
      domain_id: null,
      description: null,
      options: {},
    })),
    links: { self: `${base}/application_credentials/${id}` },
  };
}
