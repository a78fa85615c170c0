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

/** The roles that make up the permissions of a part, and their bindings. */
export function rolesOf(
  part: string,
  { everywhere = [], atHome = [], inReports = [] }: Permissions,
  subject: Subject,
  site: Site,
): Manifest[] {
  const name = `causeway-${part}`;
  return [
    ...(everywhere.length === 0 ? [] : roleAndBinding(name, undefined, everywhere, subject)),
    ...(atHome.length === 0 ? [] : roleAndBinding(name, subject.namespace, atHome, subject)),
    ...(inReports.length === 0
      ? []
      : roleAndBinding(name, site.reportsNamespace, inReports, subject)),
  ];
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
