import fc from 'fast-check';
import { expect, it } from 'vitest';
import { collect } from './collect.ts';
import { OpenStackError } from './error.ts';
import { everyPage, type Page } from './pages.ts';

const gone = new OpenStackError('not-found', 'no such marker', {
  service: 'network',
  outcome: 'refused',
  status: 404,
});

/** A paged list, from which objects are deleted between two requests. */
function listWithDeletions(ids: readonly string[], size: number, deletions: readonly number[]) {
  let rest = [...ids];
  let requests = 0;
  const fetchPage = (query: URLSearchParams) => {
    const deleted = deletions[requests];
    requests += 1;
    if (deleted !== undefined) rest = rest.filter((_, index) => index !== deleted);
    const marker = query.get('marker');
    const start = marker === null ? 0 : rest.indexOf(marker) + 1;
    if (marker !== null && start === 0) return Promise.reject(gone);
    const items = rest.slice(start, start + size).map((id) => ({ id }));
    const last = items.at(-1);
    const isLast = start + size >= rest.length || last === undefined;
    const next = isLast ? undefined : new URLSearchParams({ marker: last.id });
    return Promise.resolve({ items, next });
  };
  return { fetchPage, left: () => rest };
}

it('returns each remaining object exactly once, for any deletions during the listing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 1, max: 7 }),
      // At most three markers can disappear: with more the list gives up, which the next test shows.
      fc.array(fc.nat(30), { maxLength: 3 }),
      async (count, size, deletions) => {
        const ids = Array.from({ length: count }, (_, index) => `id-${index}`);
        const list = listWithDeletions(ids, size, deletions);
        const given = (await collect(everyPage(new URLSearchParams(), list.fetchPage))).map(
          ({ id }) => id,
        );
        expect(new Set(given).size).toBe(given.length);
        expect(given).toEqual(expect.arrayContaining(list.left()));
        expect(ids).toEqual(expect.arrayContaining(given));
      },
    ),
  );
});

it('gives up on a list if its markers disappear endlessly', async () => {
  const fetchPage = (query: URLSearchParams) =>
    query.has('marker')
      ? Promise.reject(gone)
      : Promise.resolve({ items: [{ id: 'a' }], next: new URLSearchParams({ marker: 'a' }) });
  await expect(collect(everyPage(new URLSearchParams(), fetchPage))).rejects.toBe(gone);
});

it('continues after an empty page with a link', async () => {
  const pages: Record<string, Page<{ id: string }>> = {
    '': { items: [{ id: 'a' }], next: new URLSearchParams({ marker: 'a' }) },
    'marker=a': { items: [], next: new URLSearchParams({ marker: 'b' }) },
    'marker=b': { items: [{ id: 'c' }], next: undefined },
  };
  const none = { items: [], next: undefined };
  const all = everyPage(new URLSearchParams(), async (query) => pages[query.toString()] ?? none);
  expect(await collect(all)).toEqual([{ id: 'a' }, { id: 'c' }]);
});
