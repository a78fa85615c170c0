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

/** How long one page may be worked on before the event loop gets its turn. */
const longestHoldMs = 5;
/** A list that takes this much is refused: no cloud of ours has it, and memory has an end. */
const largestPage = 256 * 1024 * 1024;

/** Reads a page while it arrives; see ListScanner for why. */
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
 * The query of the link to the next page. Only its query: the link's host and path come from what a
 * proxy made of them, and our token goes nowhere but to the endpoint we were configured with.
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
 * Every object of a list, page by page. Where the object that a page starts after is deleted in the
 * meantime, the list starts over and leaves out what it has given already.
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
      throw new CausewayError('unavailable', 'the pages of a list lead back to one already read');
    }
  }
}

/** Our own query with the marker of the link: filters and fields stay what we asked for. */
function continued(first: URLSearchParams, next: URLSearchParams): URLSearchParams {
  const query = new URLSearchParams(first);
  for (const key of ['marker', 'limit', 'page_reverse'] as const) {
    const value = next.get(key);
    if (value !== null) query.set(key, value);
  }
  return query;
}

/** A marker that no longer exists is 400 in Octavia and 404 in Neutron. */
function isMarkerGone(error: unknown): boolean {
  return error instanceof OpenStackError && (error.status === 400 || error.status === 404);
}
