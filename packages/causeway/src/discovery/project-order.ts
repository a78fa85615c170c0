import type { Random } from '@causeway/base/simulation/random';

/**
 * Which project a cycle begins with: the one after the silent one that ended a cycle before its turn
 * had come to all, so those behind silent ones would wait for ever in a fixed order. One that is silent
 * alone keeps its place: at the end, everybody would wait for its time-out. The first cycle begins
 * anywhere: a process that runs one alone can't know where the last one ended.
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
