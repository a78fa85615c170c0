import type { Clock } from '@causeway/base/time/clock';
import { newAuditId, newTokenId } from '../ids.ts';
import type { ApplicationCredential, Domain, Project, Role, User } from './directory.ts';

export type TokenScope =
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'project'; readonly project: Project }
  | { readonly kind: 'domain'; readonly domain: Domain }
  | { readonly kind: 'system' };

export interface Token {
  readonly id: string;
  readonly user: User;
  readonly scope: TokenScope;
  readonly roles: readonly Role[];
  readonly methods: readonly string[];
  readonly auditIds: readonly string[];
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly applicationCredential: ApplicationCredential | undefined;
}

export type TokenRequest = Omit<Token, 'id' | 'auditIds' | 'issuedAt' | 'expiresAt'> & {
  /** A token made from another lives no longer than that one and names it in its trail. */
  readonly parent?: Token;
};

/** Tokens that were issued and have neither expired nor been revoked. */
export class Tokens {
  private readonly clock: Clock;
  private readonly live = new Map<string, Token>();
  lifetimeMs: number;
  /** How many were ever issued, for tests that count. */
  issued = 0;

  constructor(clock: Clock, lifetimeMs: number) {
    this.clock = clock;
    this.lifetimeMs = lifetimeMs;
  }

  issue({ parent, ...request }: TokenRequest): Token {
    this.dropExpired();
    const issuedAt = this.clock.wallTime();
    const token: Token = {
      ...request,
      id: newTokenId(),
      auditIds: [newAuditId(), ...(parent === undefined ? [] : parent.auditIds.slice(0, 1))],
      issuedAt,
      expiresAt: parent?.expiresAt ?? issuedAt + this.lifetimeMs,
    };
    this.live.set(token.id, token);
    this.issued += 1;
    return token;
  }

  /** The token with this id if it still holds. */
  find(id: string): Token | undefined {
    const token = this.live.get(id);
    if (token === undefined) return undefined;
    const isDead =
      token.expiresAt <= this.clock.wallTime() ||
      !token.user.enabled ||
      (token.scope.kind === 'project' && !token.scope.project.enabled);
    if (!isDead) return token;
    this.live.delete(id);
    return undefined;
  }

  revoke(id: string): void {
    this.live.delete(id);
  }

  /** As when Keystone's keys are rotated away: every client needs a new token. */
  revokeAll(): void {
    this.live.clear();
  }

  revokeWhere(condition: (token: Token) => boolean): void {
    for (const token of this.live.values()) {
      if (condition(token)) this.live.delete(token.id);
    }
  }

  /** Tokens stand in the order of their issue, so the expired ones are in front. */
  private dropExpired(): void {
    const now = this.clock.wallTime();
    for (const token of this.live.values()) {
      if (token.expiresAt > now) return;
      this.live.delete(token.id);
    }
  }
}
