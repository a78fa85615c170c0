import type { Secret } from '../secret.ts';
import { Fields } from '../fields.ts';
import { parseCatalog, type Catalog } from './catalog.ts';

/** A token that Keystone issued. Times are on the monotonic clock: neither side's wall clock matters. */
export interface Token {
  readonly value: Secret;
  readonly catalog: Catalog;
  readonly projectId: string | undefined;
  readonly userId: string | undefined;
  /** When to renew it, early enough that no running call uses an expired token. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** A token is renewed this long before it expires, or at a fifth of its lifetime if that is less. */
const longestMarginMs = 5 * 60_000;

/** `askedAt` is taken before the request, so the transfer time counts against the token. */
export function parseToken(
  value: Secret,
  body: unknown,
  askedAt: number,
  serverTime: number | undefined,
): Token {
  const token = new Fields(body, 'answer').object('token');
  const expires = Date.parse(token.string('expires_at'));
  const issued = Date.parse(token.text('issued_at'));
  // A token from another token keeps the first one's expiry, so its age counts, not only its issue time.
  const now = serverTime ?? issued;
  const lifeMs = Number.isNaN(expires - now) ? 0 : Math.max(expires - now, 0);
  return {
    value,
    catalog: parseCatalog(token.objects('catalog')),
    projectId: token.optionalObject('project')?.string('id'),
    userId: token.optionalObject('user')?.string('id'),
    renewAt: askedAt + lifeMs - Math.min(longestMarginMs, lifeMs / 5),
    expiresAt: askedAt + lifeMs,
  };
}
