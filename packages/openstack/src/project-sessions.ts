import type { Clock } from '@causeway/base/time/clock';
import type { Session } from './session.ts';

/** Longer than the lifetime of most tokens: dropping such a session costs at most a login that was due. */
const keepUnusedMs = 60 * 60_000;
const sweepEveryMs = 60_000;

/**
 * One session per project, so that all its callers share a token. Sessions unused for an hour are dropped;
 * otherwise short-lived projects would fill the memory.
 */
export class ProjectSessions {
  readonly #clock: Clock;
  readonly #open: (projectId: string) => Session;
  readonly #sessions = new Map<string, Session>();
  #nextSweep: number;

  constructor(clock: Clock, open: (projectId: string) => Session) {
    this.#clock = clock;
    this.#open = open;
    this.#nextSweep = clock.monotonic() + sweepEveryMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(projectId: string): Session {
    this.#sweep();
    const known = this.#sessions.get(projectId);
    if (known !== undefined) return known;
    const session = this.#open(projectId);
    this.#sessions.set(projectId, session);
    return session;
  }

  #sweep(): void {
    const now = this.#clock.monotonic();
    if (now < this.#nextSweep) return;
    this.#nextSweep = now + sweepEveryMs;
    for (const [projectId, { tokens }] of this.#sessions) {
      if (now - tokens.usedAt >= keepUnusedMs) this.#sessions.delete(projectId);
    }
  }
}
