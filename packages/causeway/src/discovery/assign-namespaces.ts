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
  /** The projects with discovered objects in a namespace, as labels carry their ids. */
  readonly residents: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Namespaces of the system: a tenant can't get one by naming its project so. */
const systemNamespace = /^(?:default|kube-.*|openshift(?:-.*)?)$/;

/**
 * Form of the namespaces for projects without a usable name. A project with such a name does not get it as it
 * is.
 */
const distinguishedName = /-[0-9a-f]{10}$/;

/**
 * The namespace of each project. No two projects share one: of two with the same name (in different domains),
 * one gets a namespace with digits at its end. A project with objects in a namespace keeps it, also when the
 * other one appears, disappears or is missing for a moment. Without objects, the smaller id gets the name.
 */
export function assignNamespaces(
  projects: readonly NamedProject[],
  { backend, template, residents }: NamespaceOptions,
): Map<string, string> {
  const assigned = new Map<string, string>();
  const wantedBy = new Map<string, NamedProject[]>();
  for (const project of projects) {
    const wanted = render(template, backend, project);
    const isFree =
      isPlainLabel(wanted) && !systemNamespace.test(wanted) && !distinguishedName.test(wanted);
    if (!isFree) assigned.set(project.id, distinguished(wanted, project));
    else if (wantedBy.get(wanted)?.push(project) === undefined) wantedBy.set(wanted, [project]);
  }
  const listed = new Set(projects.map(({ id }) => labelKey(id)));
  for (const [namespace, candidates] of wantedBy) {
    const holders = residents.get(namespace) ?? noProjects;
    const owner = ownerOf(namespace, candidates, residents);
    // A project that is not listed may return soon. A listed project that wants another namespace is moving
    // out.
    const isKeptForAnother = [...holders].some((holder) => !listed.has(holder));
    const isHolder = owner !== undefined && holders.has(labelKey(owner.id));
    for (const project of candidates) {
      const gets = project === owner && (isHolder || !isKeptForAnother);
      assigned.set(project.id, gets ? namespace : distinguished(namespace, project));
    }
  }
  return assigned;
}

const noProjects: ReadonlySet<string> = new Set();

/** The project that gets the plain name among the candidates: not a project with objects elsewhere. */
function ownerOf(
  namespace: string,
  candidates: readonly NamedProject[],
  residents: ReadonlyMap<string, ReadonlySet<string>>,
): NamedProject | undefined {
  const isAt = (place: string, { id }: NamedProject) =>
    residents.get(place)?.has(labelKey(id)) === true;
  const byId = [...candidates].sort((left, right) => compare(left.id, right.id));
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

/** Made unique by its id. */
function distinguished(wanted: string, project: NamedProject): string {
  return cut(plainText(wanted) || 'project', digest([project.id]));
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
