import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Clock } from '@causeway/base/time/clock';
import { nextTurn } from '@causeway/base/time/next-turn';
import { OpenStackError } from './error.ts';
import { Fields } from './fields.ts';
import { ListScanner } from './list-scanner.ts';
import type { HttpResponse } from './transport.ts';

/** One page of a list, with the query of the page after it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: URLSearchParams | undefined;
}

/** Longest processing of a page before the event loop runs. */
const longestHoldMs = 5;
/** A larger list is rejected, to limit memory; no known cloud has one. */
const largestPage = 256 * 1024 * 1024;

/** Parses a page while it arrives; see ListScanner for the reason. */
export async function readPage<T>(
  response: HttpResponse,
  key: string,
  parse: (fields: Fields) => T,
  clock: Clock,
): Promise<Page<T>> {
  const scanner = new ListScanner(key);
  const items: T[] = [];
  let size = 0;
  let turnBegan = clock.monotonic();
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > largestPage) {
      throw new CausewayError('unavailable', `the list is larger than ${largestPage} bytes`);
    }
    for (const item of scanner.push(chunk)) items.push(parse(new Fields(item, key)));
    if (clock.monotonic() - turnBegan < longestHoldMs) continue;
    await nextTurn();
    turnBegan = clock.monotonic();
  }
  return { items, next: nextQuery(scanner.end(), key) };
}

/**
 * The query of the link to the next page. Host and path of the link are ignored: a proxy may have changed
 * them, and our token must go only to the configured endpoint.
 */
function nextQuery(envelope: Record<string, unknown>, key: string): URLSearchParams | undefined {
  for (const link of new Fields(envelope, 'list').objects(`${key}_links`)) {
    if (link.text('rel') !== 'next') continue;
    const href = link.text('href');
    const question = href.indexOf('?');
    return question < 0 ? undefined : new URLSearchParams(href.slice(question + 1));
  }
  // Keystone writes {"links": {"next": null}} beside its lists.
  const next = new Fields(envelope, 'list').optionalObject('links')?.optionalString('next');
  const question = next?.indexOf('?') ?? -1;
  return next === undefined || question < 0
    ? undefined
    : new URLSearchParams(next.slice(question + 1));
}

const mostRestarts = 3;

/**
 * Every object of a list, page by page. If the marker object of a page is deleted in the meantime, the list
 * restarts and omits objects that it has already returned.
 */
export async function* everyPage<T extends { readonly id: string }>(
  first: URLSearchParams,
  fetchPage: (query: URLSearchParams) => Promise<Page<T>>,
): AsyncGenerator<T> {
  const given = new Set<string>();
  const asked = new Set<string>();
  let query = first;
  for (let restarts = 0; ; ) {
    asked.add(query.toString());
    let page: Page<T>;
    try {
      page = await fetchPage(query);
    } catch (error) {
      if (query === first || !isMarkerGone(error) || restarts >= mostRestarts) throw error;
      restarts += 1;
      asked.clear();
      query = first;
      continue;
    }
    for (const item of page.items) {
      if (given.has(item.id)) continue;
      given.add(item.id);
      yield item;
    }
    if (page.next === undefined) return;
    query = continued(first, page.next);
    if (asked.has(query.toString())) {
      throw new CausewayError(
        'unavailable',
        'the pages of a list link back to a page that was already read',
      );
    }
  }
}

/** Our own query with the marker of the link: filters and fields stay unchanged. */
function continued(first: URLSearchParams, next: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(first);
  for (const key of ['marker', 'limit', 'page_reverse'] as const) {
    const value = next.get(key);
    if (value !== null) query.set(key, value);
  }
  return query;
}

/** A marker that no longer exists causes 400 in Octavia and 404 in Neutron. */
function isMarkerGone(error: unknown): boolean {
  return error instanceof OpenStackError && (error.status === 400 || error.status === 404);
}
