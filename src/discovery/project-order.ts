/**
 * Which project a cycle begins with: the one after the last that was silent. A cycle may end before
 * its turn has come to all, so those behind silent ones would wait for ever in a fixed order.
 */
export class ProjectOrder {
  #lastSilent: string | undefined;

  wasSilent(projectId: string): void {
    this.#lastSilent = projectId;
  }

  arrange<T extends { readonly id: string }>(projects: readonly T[]): T[] {
    const sorted = [...projects].sort((left, right) => (left.id < right.id ? -1 : 1));
    const last = this.#lastSilent;
    if (last === undefined) return sorted;
    return [...sorted.filter(({ id }) => id > last), ...sorted.filter(({ id }) => id <= last)];
  }
}
