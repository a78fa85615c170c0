import type { Permissions, Rule } from './permissions.ts';
import { labelsOf, type Manifest, type Site } from './site.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';

export interface Subject {
  /** The service account. */
  readonly name: string;
  readonly namespace: string;
}

export function serviceAccount({ name, namespace }: Subject, component: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace, labels: labelsOf(component) },
    automountServiceAccountToken: false,
  };
}

/** The roles with the permissions of a part, and their bindings. */
export function rolesOf(
  part: string,
  { everywhere = [], atHome = [], inReports = [], inKubeSystem = [] }: Permissions,
  subject: Subject,
  site: Site,
): Manifest[] {
  const name = `causeway-${part}`;
  const places: readonly (readonly [string | undefined, readonly Rule[]])[] = [
    [undefined, everywhere],
    [subject.namespace, atHome],
    [site.reportsNamespace, inReports],
    ['kube-system', inKubeSystem],
  ];
  return places
    .filter(([, rules]) => rules.length > 0)
    .flatMap(([namespace, rules]) => roleAndBinding(name, namespace, rules, subject));
}

function roleAndBinding(
  name: string,
  namespace: string | undefined,
  rules: readonly Rule[],
  subject: Subject,
): Manifest[] {
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: labelsOf(subject.name.replace(/^causeway-/, '')),
  };
  return [
    { apiVersion, kind, metadata, rules },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
      subjects: [{ kind: 'ServiceAccount', ...subject }],
    },
  ];
}
