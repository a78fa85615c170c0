import { cut, digest, isPlainLabel, plainText } from './names.ts';

interface NamedProject {
  readonly id: string;
  readonly name: string;
  readonly domainId: string;
}

export interface NamespaceOptions {
  readonly backend: string;
  /** Text with `{project}`, `{projectId}`, `{domainId}` and `{backend}` in it. */
  readonly template: string;
  /** Whether the project has objects of ours in the namespace already. */
  readonly holds: (projectId: string, namespace: string) => boolean;
}

/** Namespaces that belong to the system: no tenant gets in by calling its project so. */
const systemNamespace = /^(?:default|kube-.*|openshift(?:-.*)?)$/;

/** What we give to projects whose own name will not do; nobody gets it by being called so. */
const distinguishedName = /-[0-9a-f]{10}$/;

/**
 * The namespace of each project. No two projects share one: where two have the same name (in different
 * domains), the one that has objects there keeps it, and without any the smaller id gets it.
 */
export function assignNamespaces(
  projects: readonly NamedProject[],
  { backend, template, holds }: NamespaceOptions,
): Map<string, string> {
  const assigned = new Map<string, string>();
  const claims = new Map<string, NamedProject[]>();
  for (const project of projects) {
    const wanted = render(template, backend, project);
    const isFree =
      isPlainLabel(wanted) && !systemNamespace.test(wanted) && !distinguishedName.test(wanted);
    if (!isFree) assigned.set(project.id, distinguished(wanted, project));
    else if (claims.get(wanted)?.push(project) === undefined) claims.set(wanted, [project]);
  }
  for (const [namespace, claimants] of claims) {
    const [first, ...others] = [...claimants].sort(
      (left, right) =>
        Number(holds(right.id, namespace)) - Number(holds(left.id, namespace)) ||
        compare(left.id, right.id),
    );
    if (first !== undefined) assigned.set(first.id, namespace);
    for (const project of others) assigned.set(project.id, distinguished(namespace, project));
  }
  return assigned;
}

function render(template: string, backend: string, project: NamedProject): string {
  const values: Readonly<Record<string, string>> = {
    project: project.name,
    projectId: project.id,
    domainId: project.domainId,
    backend,
  };
  return template.replaceAll(/\{(\w+)\}/g, (text, key: string) => values[key] ?? text);
}

/** Apart from all others by its id. */
function distinguished(wanted: string, project: NamedProject): string {
  return cut(plainText(wanted) || 'project', digest([project.id]));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
