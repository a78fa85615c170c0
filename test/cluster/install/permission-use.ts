import fs from 'node:fs/promises';

/** A request of a service account, as the API server's audit log has it. */
export interface Use {
  readonly user: string;
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `services/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly isAllowed: boolean;
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number };
}

/** Logs only requests of service accounts. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

/** Requests of a user from a position in the log on. The last line may be incomplete. */
export async function usesOf(auditLog: string, from: number, user: string): Promise<Use[]> {
  const text = (await fs.readFile(auditLog)).subarray(from).toString();
  const lines = text.split('\n').slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((event) => event.user.username === user && event.objectRef?.resource !== undefined)
    .map(({ user: { username }, verb, objectRef = {}, annotations, responseStatus }) => {
      const { apiGroup = '', resource = '', subresource, namespace = '', name = '' } = objectRef;
      return {
        user: username,
        verb,
        group: apiGroup,
        resource: subresource === undefined ? resource : `${resource}/${subresource}`,
        namespace,
        name,
        // A patch that creates an object is checked twice: only the answer shows the result of the second
        // check.
        isAllowed:
          annotations?.['authorization.k8s.io/decision'] === 'allow' &&
          responseStatus?.code !== 403,
      };
    });
}

/** Forbidden requests as text; each once. */
export function refusedOf(uses: readonly Use[]): string[] {
  const refused = uses.filter(({ isAllowed }) => !isAllowed);
  const words = refused.map(({ verb, group, resource, namespace, name }) =>
    [verb, `${group}/${resource}`, namespace, name].filter((word) => word !== '').join(' '),
  );
  return [...new Set(words)];
}

export interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
}

/** Permissions of roles that were never used: `causeway-gateway: delete /services`. */
export function unusedOf(roles: readonly Role[], uses: readonly Use[]): string[] {
  const unused: string[] = [];
  for (const { metadata, rules } of roles) {
    for (const { apiGroups, resources, verbs, resourceNames } of rules) {
      for (const group of apiGroups) {
        for (const resource of resources) {
          const here = uses.filter(
            (use) =>
              use.group === group &&
              use.resource === resource &&
              (metadata.namespace === undefined || use.namespace === metadata.namespace) &&
              (resourceNames === undefined || resourceNames.includes(use.name)),
          );
          // Servers without streamed lists need list and watch, this one only watch. Reflectors need get only
          // after a list that lacks known objects.
          const others = new Set(verbs.includes('watch') ? ['get', 'list'] : []);
          const isUsed = (verb: string) =>
            here.some((use) => use.verb === verb || (others.has(verb) && use.verb === 'watch'));
          for (const verb of verbs) {
            if (!isUsed(verb)) unused.push(`${metadata.name}: ${verb} ${group}/${resource}`);
          }
        }
      }
    }
  }
  return unused;
}
