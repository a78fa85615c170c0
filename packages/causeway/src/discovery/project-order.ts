import type { Random } from '@causeway/base/simulation/random';

/**
 * Order of the projects in a cycle. A cycle that ends early, because projects don't answer, is continued
 * after the last of them: in a fixed order the later projects would starve. A single project that doesn't
 * answer keeps its place: at the end, the whole cycle would wait for its timeout. The first cycle begins
 * anywhere: a process that runs only one cycle can't know where the previous one ended.
 */
export class ProjectOrder {
  readonly #random: Random;
  #endedAt: string | undefined;
  #isFirst = true;

  constructor(random: Random) {
    this.#random = random;
  }

  endedAt(projectId: string): void {
    this.#endedAt = projectId;
  }

  arrange<T extends { readonly id: string }>(projects: readonly T[]): T[] {
    const sorted = [...projects].sort((left, right) => (left.id < right.id ? -1 : 1));
    const start = this.#start(sorted);
    return [...sorted.slice(start), ...sorted.slice(0, start)];
  }

  #start(sorted: readonly { readonly id: string }[]): number {
    const last = this.#endedAt;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst) return Math.floor(this.#random() * sorted.length);
    if (last === undefined) return 0;
    const next = sorted.findIndex(({ id }) => id > last);
    return next === -1 ? 0 : next;
  }
}
