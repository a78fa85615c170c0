import type { Clock } from '@causeway/base/time/clock';
import { withDeadline } from '@causeway/base/time/deadline';
import type { Log } from '@causeway/base/observability/log';
import { areCredentialsInvalid } from '../error.ts';
import { untilAborted } from '@causeway/base/time/until-aborted';
import type { Token } from './token.ts';

export interface TokenSourceParts {
  readonly issue: (signal: AbortSignal) => Promise<Token>;
  readonly clock: Clock;
  readonly log: Log;
  /** For one renewal, with its retries. */
  readonly deadlineMs: number;
  /** Aborts when the cloud is closed. */
  readonly closed: AbortSignal;
}

/** After a failed renewal, a token that is still valid is used this long before the next attempt. */
const holdOffMs = 10_000;

/** Keeps one token fresh for all callers. Concurrent callers share one renewal. */
export class TokenSource {
  readonly #parts: TokenSourceParts;
  #current: Token | undefined;
  #renewal: Promise<Token> | undefined;
  #holdOffUntil = 0;
  #usedAt: number;

  constructor(parts: TokenSourceParts) {
    this.#parts = parts;
    this.#usedAt = parts.clock.monotonic();
  }

  /** Time of the last request for the token, on the monotonic clock. */
  get usedAt(): number {
    return this.#usedAt;
  }

  async token(signal: AbortSignal): Promise<Token> {
    const { clock, log } = this.#parts;
    const current = this.#current;
    const now = clock.monotonic();
    this.#usedAt = now;
    if (current !== undefined && now < current.expiresAt) {
      if (now < current.renewAt || now < this.#holdOffUntil) return current;
    }
    try {
      return await untilAborted(this.#renew(), signal);
    } catch (error) {
      const usable = current !== undefined && clock.monotonic() < current.expiresAt;
      if (!usable || this.#current !== current || signal.aborted || areCredentialsInvalid(error)) {
        throw error;
      }
      this.#holdOffUntil = clock.monotonic() + holdOffMs;
      log.warn({ error }, 'the token could not be renewed early; using it until it expires');
      return current;
    }
  }

  /**
   * Called when a service refused this token. The next caller gets a new one, unless it was renewed already.
   */
  reject(token: Token): void {
    if (this.#current === token) this.#current = undefined;
  }

  #renew(): Promise<Token> {
    if (this.#renewal !== undefined) return this.#renewal;
    const { clock, deadlineMs, closed, issue } = this.#parts;
    const renewal = withDeadline(clock, deadlineMs, closed, 'getting a token', issue)
      .then((token) => {
        this.#current = token;
        this.#holdOffUntil = 0;
        return token;
      })
      .finally(() => {
        this.#renewal = undefined;
      });
    // All callers may have given up when the renewal fails; that must not become an unhandled rejection.
    renewal.catch(() => undefined);
    this.#renewal = renewal;
    return renewal;
  }
}
