/** The projects to discover, by name or id. */
export interface ProjectChoice {
  /** Only these, if there are any. */
  readonly only: readonly string[];
  readonly except: readonly string[];
}

interface NamedProject {
  readonly id: string;
  readonly name: string;
  readonly enabled: boolean;
}

export interface Chosen<P> {
  /** To be read. */
  readonly open: readonly P[];
  /** Listed but disabled: their load balancers still run, so their objects stay. */
  readonly disabled: readonly P[];
  /** Listed but not to be discovered: they still exist, so their objects stay too. */
  readonly leftOut: readonly P[];
  /** Names in the lists that no project has. */
  readonly unknown: readonly string[];
}

/** `isOpen`: whether the credentials give access to the project at all. */
export function chooseProjects<P extends NamedProject>(
  all: readonly P[],
  { only, except }: ProjectChoice,
  isOpen: (project: P) => boolean,
): Chosen<P> {
  const isNamed = (list: readonly string[], { id, name }: P) =>
    list.includes(id) || list.includes(name);
  const isChosen = (project: P) =>
    isOpen(project) && (only.length === 0 || isNamed(only, project)) && !isNamed(except, project);
  const chosen = all.filter(isChosen);
  const known = new Set(all.flatMap(({ id, name }) => [id, name]));
  return {
    open: chosen.filter(({ enabled }) => enabled),
    disabled: chosen.filter(({ enabled }) => !enabled),
    leftOut: all.filter((project) => !isChosen(project)),
    unknown: [...only, ...except].filter((name) => !known.has(name)),
  };
}
