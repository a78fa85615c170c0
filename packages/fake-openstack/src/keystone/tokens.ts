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
  /** The token that this token is created from. It limits the expiry and appears in the audit IDs. */
  readonly parent?: Token;
};

/** Issued tokens that are neither expired nor revoked. */
export class Tokens {
  private readonly clock: Clock;
  private readonly live = new Map<string, Token>();
  lifetimeMs: number;
  /** Number of tokens ever issued, for tests. */
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

  /** The token with this ID if it is still valid. */
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

  /** Simulates the removal of Keystone's keys by a rotation: every client needs a new token. */
  revokeAll(): void {
    this.live.clear();
  }

  revokeWhere(condition: (token: Token) => boolean): void {
    for (const token of this.live.values()) {
      if (condition(token)) this.live.delete(token.id);
    }
  }

  /** Tokens are in the order of issue, so expired tokens come first. */
  private dropExpired(): void {
    const now = this.clock.wallTime();
    for (const token of this.live.values()) {
      if (token.expiresAt > now) return;
      this.live.delete(token.id);
    }
  }
}
