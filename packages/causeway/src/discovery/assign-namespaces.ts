import { cut, digest, isPlainLabel, labelKey, plainText } from './names.ts';

interface NamedProject {
  readonly id: string;
  readonly name: string;
  readonly domainId: string;
}

export interface NamespaceOptions {
  readonly backend: string;
  /** Text with `{project}`, `{projectId}`, `{domainId}` and `{backend}` in it. */
  readonly template: string;
  /** The projects that have objects of ours in a namespace, as labels carry their ids. */
  readonly residents: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Namespaces that belong to the system: no tenant gets in by calling its project so. */
const systemNamespace = /^(?:default|kube-.*|openshift(?:-.*)?)$/;

/** What we give to projects whose own name will not do; nobody gets it by being called so. */
const distinguishedName = /-[0-9a-f]{10}$/;

/**
 * The namespace of each project. No two projects share one: of two with the same name (in different
 * domains) one has a namespace with digits at its end. Whoever has objects somewhere stays there, also
 * when the other one comes, goes or is away for a moment; without any, the smaller id gets the name.
 */
export function assignNamespaces(
  projects: readonly NamedProject[],
  { backend, template, residents }: NamespaceOptions,
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
  const listed = new Set(projects.map(({ id }) => labelKey(id)));
  for (const [namespace, claimants] of claims) {
    const holders = residents.get(namespace) ?? nobody;
    const owner = ownerOf(namespace, claimants, residents);
    // One that is not listed may be back in a moment. One that is, and claims another, is moving out.
    const isKeptForAnother = [...holders].some((holder) => !listed.has(holder));
    const isHolder = owner !== undefined && holders.has(labelKey(owner.id));
    for (const project of claimants) {
      const gets = project === owner && (isHolder || !isKeptForAnother);
      assigned.set(project.id, gets ? namespace : distinguished(namespace, project));
    }
  }
  return assigned;
}

const nobody: ReadonlySet<string> = new Set();

/** Who has the plain name, of those that would like to: not one that has its objects elsewhere. */
function ownerOf(
  namespace: string,
  claimants: readonly NamedProject[],
  residents: ReadonlyMap<string, ReadonlySet<string>>,
): NamedProject | undefined {
  const isAt = (place: string, { id }: NamedProject) =>
    residents.get(place)?.has(labelKey(id)) === true;
  const byId = [...claimants].sort((left, right) => compare(left.id, right.id));
  const elsewhere = (project: NamedProject) => isAt(distinguished(namespace, project), project);
  const here = byId.filter((project) => isAt(namespace, project));
  return (
    here.find((project) => !elsewhere(project)) ??
    here[0] ??
    byId.find((project) => !elsewhere(project))
  );
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
