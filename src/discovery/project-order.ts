import type { Random } from '../runtime/random.ts';

/**
 * Which project a cycle begins with: the one after the last that was silent. A cycle may end before
 * its turn has come to all, so those behind silent ones would wait for ever in a fixed order. The first
 * cycle begins anywhere: a process that runs one alone can't know who was silent in the last.
 */
export class ProjectOrder {
  readonly #random: Random;
  #lastSilent: string | undefined;
  #isFirst = true;

  constructor(random: Random) {
    this.#random = random;
  }

  wasSilent(projectId: string): void {
    this.#lastSilent = projectId;
  }

  arrange<T extends { readonly id: string }>(projects: readonly T[]): T[] {
    const sorted = [...projects].sort((left, right) => (left.id < right.id ? -1 : 1));
    const start = this.#start(sorted);
    return [...sorted.slice(start), ...sorted.slice(0, start)];
  }

  #start(sorted: readonly { readonly id: string }[]): number {
    const last = this.#lastSilent;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst) return Math.floor(this.#random() * sorted.length);
    if (last === undefined) return 0;
    const next = sorted.findIndex(({ id }) => id > last);
    return next === -1 ? 0 : next;
  }
}
