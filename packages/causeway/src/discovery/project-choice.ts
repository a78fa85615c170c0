/** Which projects are discovered, by name or id. */
export interface ProjectChoice {
  /** Only these, where there are any. */
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
  /** Listed, and closed: their load balancers run on, so what is here of them stays. */
  readonly disabled: readonly P[];
  /** Listed, and not to be discovered: they are not gone, so what is here of them stays too. */
  readonly leftOut: readonly P[];
  /** What the lists name and no project is called. */
  readonly unknown: readonly string[];
}

/** `isOpen`: whether our credentials lead into the project at all. */
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
