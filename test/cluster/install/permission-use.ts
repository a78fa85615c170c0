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

/** Logs who asked for what, of service accounts alone. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
};

/** What a user has asked for from a place in the log on. The last line may still be being written. */
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
        // A patch that makes an object is looked at twice: the second time it says so with its answer alone.
        isAllowed:
          annotations?.['authorization.k8s.io/decision'] === 'allow' &&
          responseStatus?.code !== 403,
      };
    });
}

/** What was refused, in words; each once. */
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

/** What roles allow and nobody has asked for: `causeway-gateway: delete /services`. */
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
          // Servers without streamed lists are followed by list and watch, this one by watch alone.
          const isUsed = (verb: string) =>
            here.some((use) => use.verb === verb || (verb === 'list' && use.verb === 'watch'));
          for (const verb of verbs) {
            if (!isUsed(verb)) unused.push(`${metadata.name}: ${verb} ${group}/${resource}`);
          }
        }
      }
    }
  }
  return unused;
}
