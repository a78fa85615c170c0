import type { Token } from './keystone/tokens.ts';

/** The caller and its project. */
export interface Actor {
  readonly projectId: string;
  readonly isAdmin: boolean;
  readonly roles: ReadonlySet<string>;
}

export function actorOf(token: Token): Actor {
  const roles = new Set(token.roles.map((role) => role.name));
  return {
    projectId: token.scope.kind === 'project' ? token.scope.project.id : '',
    isAdmin: roles.has('admin'),
    roles,
  };
}

/** The actor of the cloud's own services, for example of Octavia when it creates Neutron ports. */
export function serviceActor(projectId: string): Actor {
  return { projectId, isAdmin: true, roles: new Set(['admin']) };
}
