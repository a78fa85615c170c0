import type { Loss } from './content.ts';

export interface LostBalancer {
  readonly id: string;
  /** Has no ports if the load balancer has no content that clients could miss. */
  readonly loss: Loss;
}

/** The losses of one project. */
export interface LossReport {
  readonly projectId: string;
  readonly lost: readonly LostBalancer[];
  /** What remains: load balancers with content, only empty ones, or none. */
  readonly leaves: 'content' | 'shells' | 'nothing';
}

export interface Held {
  readonly projectId: string;
  readonly lost: readonly string[];
  /** The project would have none left, or the backend would lose too much. */
  readonly because: 'project-emptied' | 'backend-share';
  /** Number of cycles in a row with this result, including this one. */
  readonly agreements: number;
}

export interface Verdict {
  /** Load balancers that may be removed. */
  readonly released: ReadonlySet<string>;
  readonly held: readonly Held[];
}

export interface GuardOptions {
  /** The share of a backend's ports, and of its endpoints, that may be removed at once. */
  readonly maxLossShare: number;
}

/** The totals over all load balancers of a backend. */
export interface Holdings {
  readonly ports: number;
  readonly endpoints: number;
}

/**
 * This many endpoints may be removed whatever their share, from ports that keep half of theirs: a small
 * backend can be scaled down. It does not apply if no loss at all is allowed.
 */
const fewEndpoints = 10;

export const agreementsNeeded = 3;

/** How many cycles in a row reported the same loss for a held load balancer. */
interface Agreement {
  readonly way: string;
  readonly cycles: number;
}

type Waiting = ReadonlyMap<string, Agreement>;

/**
 * Decides which losses are released. A service that answers with an empty list is more often broken than
 * empty. So a loss that would empty a project or much of a backend needs three equal reports in a row.
 */
export class LossGuard {
  readonly #options: GuardOptions;
  /** Held losses, by project. */
  #waiting: ReadonlyMap<string, Waiting> = new Map();

  constructor(options: GuardOptions) {
    this.#options = options;
  }

  /**
   * Judges one cycle. It may contain only completely read projects: the others are neither lost nor seen, and
   * their count starts again.
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

  /** Resets the counts after a cycle that could not be judged. */
  reset(): void {
    this.#waiting = new Map();
  }
}

/**
 * Whether nothing would be left of a project, or only empty load balancers although some have content now.
 */
function empties({ leaves, lost }: LossReport): boolean {
  return leaves === 'nothing' || (leaves === 'shells' && lost.some(({ loss }) => loss.ports > 0));
}

function isAgreed({ cycles }: Agreement): boolean {
  return cycles >= agreementsNeeded;
}

/**
 * Continues the count of the last cycle. If a load balancer returned, or has a different loss than before,
 * the project's answers contradict each other, and all its counts start again.
 */
function agree(before: Waiting, lost: readonly LostBalancer[]): Map<string, Agreement> {
  const now = new Map(lost.map(({ id, loss }) => [id, loss.way]));
  // Released load balancers are deleted by now, unless their deletion failed.
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
