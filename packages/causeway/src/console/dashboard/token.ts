import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const cookieName = 'causeway-dashboard';

/**
 * The token of a request: from `Authorization: Bearer`, from the cookie, or, at the first visit, from the
 * URL. From there it moves into the cookie.
 */
export function tokenOf(request: IncomingMessage, url: URL): { token: string; isFirst: boolean } {
  const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (bearer !== undefined) return { token: bearer, isFirst: false };
  const given = url.searchParams.get('token');
  if (given !== null) return { token: given, isFirst: true };
  const cookie = (request.headers.cookie ?? '')
    .split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(`${cookieName}=`));
  return { token: fromCookie(cookie?.slice(cookieName.length + 1) ?? ''), isFirst: false };
}

/** A token may contain characters that end a cookie, or that headers do not allow. */
export function toCookie(token: string): string {
  return `${cookieName}=${encodeURIComponent(token)}`;
}

function fromCookie(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Compares in constant time, for any lengths. */
export function isToken(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return wanted !== '' && timingSafeEqual(digest(given), digest(wanted));
}
