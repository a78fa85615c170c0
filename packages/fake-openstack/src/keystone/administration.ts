import { parameter, type Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import type { Table } from '../table.ts';
import { bodyOf, list, v3, type Keystone } from './api.ts';
import { domainView, projectView, roleView, userView } from './views.ts';

/** Administration of projects, users, domains, roles and the catalog. */
export function addAdministrationRoutes(keystone: Keystone): void {
  addProjectRoutes(keystone);
  addUserRoutes(keystone);
  addRoleRoutes(keystone);
  addReadOnlyRoutes(keystone);
}

function find<T extends { id: string }>(table: Table<T>, kind: string, id: string): T {
  const row = table.get(id);
  if (row === undefined) throw new Refusal(404, `Could not find ${kind}: ${id}.`);
  return row;
}

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}

function wantedName(call: Call, kind: string): string {
  const { name } = bodyOf(call, kind) as Record<string, unknown>;
  if (typeof name !== 'string') throw new Refusal(400, "'name' is a required property");
  return name;
}

function addProjectRoutes(keystone: Keystone): void {
  const { directory } = keystone;
  keystone.adminRoute('GET', '/projects', 'identity:list_projects', (call) => {
    const name = call.query.get('name');
    const domain = call.query.get('domain_id');
    const rows = name === null ? directory.projects.all() : directory.projects.by('anyName', name);
    const found = rows.filter((row) => domain === null || row.domain_id === domain);
    return list(
      call,
      'projects',
      found.map((row) => projectView(row, v3(call))),
    );
  });
  keystone.adminRoute('POST', '/projects', 'identity:create_project', (call) => {
    const name = wantedName(call, 'project');
    const { domain_id, description } = bodyOf(call, 'project') as Record<string, unknown>;
    const domainId = text(domain_id, 'default');
    if (directory.findProject(domainId, name) !== undefined) {
      throw new Refusal(
        409,
        `Conflict occurred attempting to store project - it is not permitted to have two projects with either the same name or same id in the same domain: name is ${name}.`,
      );
    }
    const project = directory.addProject(domainId, name, text(description, ''));
    return { status: 201, body: { project: projectView(project, v3(call)) } };
  });
  keystone.adminRoute('GET', '/projects/:id', 'identity:get_project', (call) => {
    const project = find(directory.projects, 'project', parameter(call, 'id'));
    return { status: 200, body: { project: projectView(project, v3(call)) } };
  });
  keystone.adminRoute('PATCH', '/projects/:id', 'identity:update_project', (call) => {
    const project = find(directory.projects, 'project', parameter(call, 'id'));
    const { name, description, enabled } = bodyOf(call, 'project') as Record<string, unknown>;
    directory.projects.update(project, {
      name: text(name, project.name),
      description: text(description, project.description),
      enabled: typeof enabled === 'boolean' ? enabled : project.enabled,
    });
    return { status: 200, body: { project: projectView(project, v3(call)) } };
  });
  keystone.adminRoute('DELETE', '/projects/:id', 'identity:delete_project', (call) => {
    const { id } = find(directory.projects, 'project', parameter(call, 'id'));
    directory.deleteProject(id);
    keystone.tokens.revokeWhere(({ scope }) => scope.kind === 'project' && scope.project.id === id);
    return { status: 204 };
  });
}

function addUserRoutes(keystone: Keystone): void {
  const { directory } = keystone;
  keystone.adminRoute('GET', '/users', 'identity:list_users', (call) => {
    const name = call.query.get('name');
    const found = directory.users.all().filter((row) => name === null || row.name === name);
    return list(
      call,
      'users',
      found.map((row) => userView(row, v3(call))),
    );
  });
  keystone.adminRoute('POST', '/users', 'identity:create_user', (call) => {
    const name = wantedName(call, 'user');
    const { domain_id, password } = bodyOf(call, 'user') as Record<string, unknown>;
    const domainId = text(domain_id, 'default');
    if (directory.findUser(domainId, name) !== undefined) {
      throw new Refusal(
        409,
        `Conflict occurred attempting to store user - Duplicate entry found with name ${name} at domain ID ${domainId}.`,
      );
    }
    const user = directory.addUser(domainId, name, text(password, ''));
    return { status: 201, body: { user: userView(user, v3(call)) } };
  });
  keystone.adminRoute('GET', '/users/:id', 'identity:get_user', (call) => {
    const user = find(directory.users, 'user', parameter(call, 'id'));
    return { status: 200, body: { user: userView(user, v3(call)) } };
  });
  keystone.adminRoute('PATCH', '/users/:id', 'identity:update_user', (call) => {
    const user = find(directory.users, 'user', parameter(call, 'id'));
    const { password, enabled } = bodyOf(call, 'user') as Record<string, unknown>;
    directory.users.update(user, {
      password: text(password, user.password),
      enabled: typeof enabled === 'boolean' ? enabled : user.enabled,
    });
    if (typeof password === 'string') {
      keystone.tokens.revokeWhere((token) => token.user.id === user.id);
    }
    return { status: 200, body: { user: userView(user, v3(call)) } };
  });
  keystone.adminRoute('DELETE', '/users/:id', 'identity:delete_user', (call) => {
    const { id } = find(directory.users, 'user', parameter(call, 'id'));
    directory.deleteUser(id);
    keystone.tokens.revokeWhere((token) => token.user.id === id);
    return { status: 204 };
  });
}

function addRoleRoutes(keystone: Keystone): void {
  const { directory } = keystone;
  const grantPath = '/projects/:projectId/users/:userId/roles/:roleId';
  keystone.adminRoute('GET', '/roles', 'identity:list_roles', (call) => {
    const name = call.query.get('name');
    const found = directory.roles.all().filter((row) => name === null || row.name === name);
    return list(
      call,
      'roles',
      found.map((row) => roleView(row, v3(call))),
    );
  });
  keystone.adminRoute('PUT', grantPath, 'identity:create_grant', (call) => {
    const role = find(directory.roles, 'role', parameter(call, 'roleId'));
    const user = find(directory.users, 'user', parameter(call, 'userId'));
    const project = find(directory.projects, 'project', parameter(call, 'projectId'));
    directory.grant(user.id, project.id, role.name);
    return { status: 204 };
  });
  keystone.adminRoute('DELETE', grantPath, 'identity:revoke_grant', (call) => {
    const role = find(directory.roles, 'role', parameter(call, 'roleId'));
    directory.revoke(parameter(call, 'userId'), parameter(call, 'projectId'), role.name);
    return { status: 204 };
  });
  keystone.adminRoute('GET', '/role_assignments', 'identity:list_role_assignments', (call) => {
    const user = call.query.get('user.id');
    const project = call.query.get('scope.project.id');
    const rows = directory.assignmentsOf({
      ...(user === null ? {} : { user }),
      ...(project === null ? {} : { project }),
    });
    const views = rows.flatMap((row) =>
      directory.directRolesOf(row.userId, row.projectId).map((role) => ({
        scope: { project: { id: row.projectId } },
        user: { id: row.userId },
        role: { id: role.id },
        links: {
          assignment: `${v3(call)}/projects/${row.projectId}/users/${row.userId}/roles/${role.id}`,
        },
      })),
    );
    return list(call, 'role_assignments', views);
  });
}

function addReadOnlyRoutes(keystone: Keystone): void {
  const { directory, catalog } = keystone;
  keystone.adminRoute('GET', '/domains', 'identity:list_domains', (call) => {
    const name = call.query.get('name');
    const found = directory.domains.all().filter((row) => name === null || row.name === name);
    return list(
      call,
      'domains',
      found.map((row) => domainView(row, v3(call))),
    );
  });
  keystone.adminRoute('GET', '/domains/:id', 'identity:get_domain', (call) => {
    const domain = find(directory.domains, 'domain', parameter(call, 'id'));
    return { status: 200, body: { domain: domainView(domain, v3(call)) } };
  });
  keystone.adminRoute('GET', '/services', 'identity:list_services', (call) =>
    list(
      call,
      'services',
      catalog.services.map(({ id, name, type }) => ({ id, name, type, enabled: true })),
    ),
  );
  keystone.adminRoute('GET', '/endpoints', 'identity:list_endpoints', (call) =>
    list(
      call,
      'endpoints',
      catalog.services.flatMap((service) =>
        service.endpoints.map((row) => ({ ...row, service_id: service.id, enabled: true })),
      ),
    ),
  );
  keystone.adminRoute('GET', '/regions', 'identity:list_regions', (call) =>
    list(call, 'regions', [{ id: catalog.region, description: '', parent_region_id: null }]),
  );
}
