import { newHexId, newSecret } from '../ids.ts';
import { Table, byId } from '../table.ts';

export interface Domain {
  readonly id: string;
  name: string;
  description: string;
  enabled: boolean;
}

export interface Project {
  readonly id: string;
  name: string;
  readonly domain_id: string;
  description: string;
  enabled: boolean;
}

export interface User {
  readonly id: string;
  name: string;
  readonly domain_id: string;
  enabled: boolean;
  password: string;
}

export interface Role {
  readonly id: string;
  readonly name: string;
}

export interface ApplicationCredential {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly user_id: string;
  readonly project_id: string;
  readonly secret: string;
  readonly roles: readonly Role[];
  /** Milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  readonly unrestricted: boolean;
}

interface Assignment {
  readonly id: string;
  readonly userId: string;
  readonly projectId: string;
  readonly roles: Set<string>;
}

const named = (row: { name: string; domain_id: string }) => [`${row.domain_id}/${row.name}`];

/** Roles that a role implies. */
const implied: Readonly<Record<string, readonly string[]>> = {
  admin: ['member', 'reader'],
  member: ['reader'],
};

/** Domains, projects, users, roles and role assignments. */
export class Directory {
  readonly domains = new Table<Domain>({ name: (row) => [row.name] }, byId);
  readonly projects = new Table<Project>({ name: named, anyName: (row) => [row.name] }, byId);
  readonly users = new Table<User>({ name: named }, byId);
  readonly roles = new Table<Role>({ name: (row) => [row.name] }, byId);
  readonly applicationCredentials = new Table<ApplicationCredential>(
    { user: (row) => [row.user_id], name: (row) => [`${row.user_id}/${row.name}`] },
    byId,
  );
  private readonly assignments = new Table<Assignment>(
    { user: (row) => [row.userId], project: (row) => [row.projectId] },
    byId,
  );

  addDomain(name: string, id = newHexId()): Domain {
    return this.domains.insert({ id, name, description: '', enabled: true });
  }

  addProject(domainId: string, name: string, description = ''): Project {
    const id = newHexId();
    return this.projects.insert({ id, name, domain_id: domainId, description, enabled: true });
  }

  addUser(domainId: string, name: string, password: string): User {
    const id = newHexId();
    return this.users.insert({ id, name, domain_id: domainId, enabled: true, password });
  }

  role(name: string): Role {
    const [found] = this.roles.by('name', name);
    return found ?? this.roles.insert({ id: newHexId(), name });
  }

  addApplicationCredential(
    values: Omit<ApplicationCredential, 'id' | 'secret'> & { secret?: string },
  ): ApplicationCredential {
    const secret = values.secret ?? newSecret();
    return this.applicationCredentials.insert({ ...values, id: newHexId(), secret });
  }

  findProject(domainId: string, name: string): Project | undefined {
    return this.projects.by('name', `${domainId}/${name}`)[0];
  }

  findUser(domainId: string, name: string): User | undefined {
    return this.users.by('name', `${domainId}/${name}`)[0];
  }

  grant(userId: string, projectId: string, ...roleNames: readonly string[]): void {
    const id = `${userId}/${projectId}`;
    const assignment =
      this.assignments.get(id) ??
      this.assignments.insert({ id, userId, projectId, roles: new Set() });
    for (const name of roleNames) assignment.roles.add(this.role(name).name);
  }

  revoke(userId: string, projectId: string, roleName: string): void {
    const id = `${userId}/${projectId}`;
    const assignment = this.assignments.get(id);
    assignment?.roles.delete(roleName);
    if (assignment?.roles.size === 0) this.assignments.delete(id);
  }

  /** The roles of a user in a project, including implied roles. */
  rolesOf(userId: string, projectId: string): Role[] {
    const direct = this.assignments.get(`${userId}/${projectId}`)?.roles ?? [];
    const names = new Set([...direct].flatMap((name) => [name, ...(implied[name] ?? [])]));
    return [...names].map((name) => this.role(name));
  }

  directRolesOf(userId: string, projectId: string): Role[] {
    return [...(this.assignments.get(`${userId}/${projectId}`)?.roles ?? [])].map((name) =>
      this.role(name),
    );
  }

  projectsOf(userId: string): Project[] {
    return this.assignments
      .by('user', userId)
      .flatMap(({ projectId }) => this.projects.get(projectId) ?? [])
      .filter((project) => project.enabled);
  }

  assignmentsOf(filter: { user?: string; project?: string }): Assignment[] {
    const rows =
      filter.user !== undefined
        ? this.assignments.by('user', filter.user)
        : filter.project !== undefined
          ? this.assignments.by('project', filter.project)
          : [...this.assignments.all()];
    return rows.filter((row) => filter.project === undefined || row.projectId === filter.project);
  }

  deleteProject(id: string): void {
    for (const assignment of this.assignments.by('project', id)) {
      this.assignments.delete(assignment.id);
    }
    this.projects.delete(id);
  }

  deleteUser(id: string): void {
    for (const assignment of this.assignments.by('user', id)) {
      this.assignments.delete(assignment.id);
    }
    for (const credential of this.applicationCredentials.by('user', id)) {
      this.applicationCredentials.delete(credential.id);
    }
    this.users.delete(id);
  }
}
