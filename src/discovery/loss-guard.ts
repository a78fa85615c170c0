/** What one project would lose, by the ids of load balancers. */
export interface LossReport {
  readonly projectId: string;
  /** How many of its load balancers are replicated now. */
  readonly replicated: number;
  readonly lost: readonly string[];
}

export interface Held {
  readonly projectId: string;
  readonly lost: readonly string[];
  /** The project would have none left, or the backend too few. */
  readonly because: 'project-emptied' | 'backend-share';
  /** Cycles in a row that have said so, this one included. */
  readonly agreements: number;
}

export interface Verdict {
  /** Load balancers that may go. */
  readonly released: ReadonlySet<string>;
  readonly held: readonly Held[];
}

export interface GuardOptions {
  /** The share of a backend's load balancers that may go at once without question. */
  readonly maxLossShare: number;
}

export const agreementsNeeded = 3;

/**
 * Decides which losses are believed. A service that answers with an empty list is more often broken
 * than empty, so what would empty a project or much of a backend has to be said three times in a row.
 */
export class LossGuard {
  readonly #options: GuardOptions;
  /** For each load balancer that was lost in the last cycle, in how many in a row. */
  #agreements = new Map<string, number>();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /**
   * Judges one cycle. Only projects that were read whole may be in it: the others are neither lost nor
   * seen, and their count begins anew.
   */
  judge(reports: readonly LossReport[], replicated: number, isConfirmed: boolean): Verdict {
    const total = reports.reduce((sum, { lost }) => sum + lost.length, 0);
    const exceedsShare = total > replicated * this.#options.maxLossShare;
    const agreements = new Map<string, number>();
    const released = new Set<string>();
    const held: Held[] = [];
    for (const { projectId, replicated: own, lost } of reports) {
      const waiting: string[] = [];
      const isEmptied = lost.length >= own;
      for (const id of lost) {
        const count = (this.#agreements.get(id) ?? 0) + 1;
        agreements.set(id, count);
        const isDoubtful = isEmptied || exceedsShare;
        if (isConfirmed || !isDoubtful || count >= agreementsNeeded) released.add(id);
        else waiting.push(id);
      }
      if (waiting.length === 0) continue;
      held.push({
        projectId,
        lost: waiting,
        because: isEmptied ? 'project-emptied' : 'backend-share',
        agreements: Math.min(...waiting.map((id) => agreements.get(id) ?? 0)),
      });
    }
    this.#agreements = agreements;
    return { released, held };
  }

  /** A cycle that could not be judged: the row is broken. */
  forget(): void {
    this.#agreements.clear();
  }
}
