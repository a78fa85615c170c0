import type { Token } from './keystone/tokens.ts';

/** Who asks, and in which project. */
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

/** The cloud itself at work, as Octavia is when it makes ports. */
export function serviceActor(projectId: string): Actor {
  return { projectId, isAdmin: true, roles: new Set(['admin']) };
}
