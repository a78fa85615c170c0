import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const cookieName = 'causeway-dashboard';

/**
 * Whether a request may see anything: the token as `Authorization: Bearer`, in the cookie, or, for
 * the first visit, in the address, from where it moves into the cookie.
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

/** A token may hold what would end a cookie, or what no header takes. */
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

/** Compares in constant time, whatever the lengths. */
export function isToken(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return wanted !== '' && timingSafeEqual(digest(given), digest(wanted));
}
