import type { Loss } from './content.ts';

export interface LostBalancer {
  readonly id: string;
  /** Without ports where it has nothing to lose: it is missed by nobody. */
  readonly loss: Loss;
}

/** What one project would lose. */
export interface LossReport {
  readonly projectId: string;
  readonly lost: readonly LostBalancer[];
  /** What it would still have: load balancers with something behind them, empty ones, or none. */
  readonly leaves: 'content' | 'shells' | 'nothing';
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
  /** The share of a backend's ports, and of its endpoints, that may go at once without question. */
  readonly maxLossShare: number;
}

/** What a backend has, over all its load balancers. */
export interface Holdings {
  readonly ports: number;
  readonly endpoints: number;
}

/**
 * So many endpoints may go whatever their share is, from ports that keep half of theirs: a small backend
 * that is scaled down is not in doubt. Not where nothing at all may go.
 */
const fewEndpoints = 10;

export const agreementsNeeded = 3;

/** How often in a row the same was said of a load balancer that is held. */
interface Agreement {
  readonly way: string;
  readonly cycles: number;
}

type Waiting = ReadonlyMap<string, Agreement>;

/**
 * Decides which losses are believed. A service that answers with an empty list is more often broken
 * than empty, so what would empty a project or much of a backend has to be said three times in a row.
 */
export class LossGuard {
  readonly #options: GuardOptions;
  /** What is doubted, by project. */
  #waiting: ReadonlyMap<string, Waiting> = new Map();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /**
   * Judges one cycle. Only projects that were read whole may be in it: the others are neither lost nor
   * seen, and their count begins anew.
   */
  judge(reports: readonly LossReport[], has: Holdings, isConfirmed: boolean): Verdict {
    const exceedsShare = this.#exceedsShare(
      reports.flatMap(({ lost }) => lost.map(({ loss }) => loss)),
      has,
    );
    const waiting = new Map<string, Waiting>();
    const released = new Set<string>();
    const held: Held[] = [];
    for (const report of reports) {
      const { projectId, lost } = report;
      const isEmptied = empties(report);
      if (isConfirmed || !(isEmptied || exceedsShare)) {
        for (const { id } of lost) released.add(id);
        continue;
      }
      const own = agree(this.#waiting.get(projectId) ?? new Map(), lost);
      waiting.set(projectId, own);
      for (const [id, agreement] of own) if (isAgreed(agreement)) released.add(id);
      const doubted = [...own].filter(([, agreement]) => !isAgreed(agreement));
      if (doubted.length === 0) continue;
      held.push({
        projectId,
        lost: doubted.map(([id]) => id),
        because: isEmptied ? 'project-emptied' : 'backend-share',
        agreements: Math.min(...doubted.map(([, { cycles }]) => cycles)),
      });
    }
    this.#waiting = waiting;
    return { released, held };
  }

  #exceedsShare(losses: readonly Loss[], has: Holdings): boolean {
    const { maxLossShare: share } = this.#options;
    const ports = losses.reduce((sum, loss) => sum + loss.ports, 0);
    const endpoints = losses.reduce((sum, loss) => sum + loss.endpoints, 0);
    const few = share === 0 ? 0 : fewEndpoints;
    return ports > has.ports * share || endpoints > Math.max(few, has.endpoints * share);
  }

  /** A cycle that could not be judged: the row is broken. */
  forget(): void {
    this.#waiting = new Map();
  }
}

/** Whether nothing would be left of a project, or nothing but shells of what has something in it now. */
function empties({ leaves, lost }: LossReport): boolean {
  return leaves === 'nothing' || (leaves === 'shells' && lost.some(({ loss }) => loss.ports > 0));
}

function isAgreed({ cycles }: Agreement): boolean {
  return cycles >= agreementsNeeded;
}

/**
 * Counts on from the last cycle. Where something came back, or is lost in another way than before, the
 * project's answers contradict each other, and all of it is counted from the beginning.
 */
function agree(before: Waiting, lost: readonly LostBalancer[]): Map<string, Agreement> {
  const now = new Map(lost.map(({ id, loss }) => [id, loss.way]));
  // What was released is gone by now, unless its deletion failed.
  const isSteady = [...before].every(
    ([id, agreement]) => isAgreed(agreement) || now.get(id) === agreement.way,
  );
  return new Map(
    lost.map(({ id, loss }) => {
      const cycles = isSteady ? (before.get(id)?.cycles ?? 0) : 0;
      return [id, { way: loss.way, cycles: cycles + 1 }];
    }),
  );
}
