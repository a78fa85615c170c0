/** Which projects are discovered, by name or id. */
export interface ProjectChoice {
  /** Only these, where there are any. */
  readonly only: readonly string[];
  readonly except: readonly string[];
}

export function isChosen(
  { only, except }: ProjectChoice,
  { id, name }: { readonly id: string; readonly name: string },
): boolean {
  const isNamed = (list: readonly string[]) => list.includes(id) || list.includes(name);
  return (only.length === 0 || isNamed(only)) && !isNamed(except);
}
