import type { Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import type { Actor } from '../actor.ts';
import { readTagFilter, tagArguments, tagsMatch } from '../tag-filter.ts';
import { show } from './attributes.ts';
import { badRequest } from './refusals.ts';
import type { Resource } from './resource.ts';
import type { NeutronRow } from './rows.ts';

const auxiliary = new Set([
  'fields',
  'limit',
  'marker',
  'page_reverse',
  'sort_key',
  'sort_dir',
  ...tagArguments,
]);

export interface Page {
  readonly items: readonly Record<string, unknown>[];
  readonly links: readonly { readonly rel: string; readonly href: string }[] | undefined;
}

/** A list in Neutron's format: filtered, sorted and paged, with links if the request has a limit. */
export function listPage<T extends NeutronRow>(
  resource: Resource<T>,
  call: Call,
  actor: Actor,
  maxPage: number | undefined,
): Page {
  const filters = readFilters(resource, call.query);
  const tags = readTagFilter(call.query);
  const matching = candidates(resource, filters, tags.all[0], actor).filter((row) =>
    filters.every((filter) => filter.matches(row)),
  );
  const rows = matching.filter((row) => tagsMatch(tags, row.tags));
  const sorted = sortRows(resource, rows, call.query, actor);
  const limit = readLimit(call.query, maxPage);
  if (limit === undefined)
    return { items: project(resource, sorted, call.query, actor), links: undefined };
  const { page, links } = cutPage(resource, sorted, limit, call);
  return { items: project(resource, page, call.query, actor), links };
}

interface Filter<T> {
  readonly name: string;
  readonly values: readonly string[];
  readonly matches: (row: T) => boolean;
}

function readFilters<T extends NeutronRow>(
  resource: Resource<T>,
  query: URLSearchParams,
): Filter<T>[] {
  const names = [...new Set(query.keys())].filter((name) => !auxiliary.has(name));
  const known = knownNames(resource);
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const list = unknown.map((name) => `'${name}'`).join(', ');
    throw badRequest(`[${list}] is invalid attribute for filtering`);
  }
  return names.map((name) => {
    const values = query.getAll(name);
    const special = resource.filters?.[name];
    if (special !== undefined) {
      // All repeated sub-filters such as fixed_ips=subnet_id=… have to match.
      return { name, values, matches: (row) => values.every((value) => special(row, value)) };
    }
    return { name, values, matches: (row) => equalsAny(fieldOf(resource, row, name), values) };
  });
}

function knownNames<T extends NeutronRow>(resource: Resource<T>): Set<string> {
  const always = [
    'id',
    'name',
    'description',
    'project_id',
    'tenant_id',
    'status',
    'revision_number',
  ];
  return new Set([
    ...always,
    ...Object.keys(resource.attributes),
    ...Object.keys(resource.filters ?? {}),
  ]);
}

const everyone: Actor = { projectId: '', isAdmin: true, roles: new Set() };

function fieldOf<T extends NeutronRow>(resource: Resource<T>, row: T, name: string): unknown {
  return resource.view(row, everyone)[name];
}

function equalsAny(value: unknown, wanted: readonly string[]): boolean {
  if (typeof value === 'boolean') {
    return wanted.some((text) => (text.toLowerCase() === 'true' || text === '1') === value);
  }
  if (value === null || value === undefined) return false;
  return wanted.includes(show(value));
}

/** Narrows the list by the first filter that has an index. */
function candidates<T extends NeutronRow>(
  resource: Resource<T>,
  filters: readonly Filter<T>[],
  tag: string | undefined,
  actor: Actor,
): readonly T[] {
  const { table } = resource;
  for (const { name, values } of filters) {
    if (name === 'id') {
      const rows = values.flatMap((id) => table.get(id) ?? []);
      return rows.filter((row) => resource.isVisible(row, actor));
    }
    const index = name === 'tenant_id' ? 'project_id' : name;
    // An empty value can't be looked up, because rows without a value are in no index.
    if (!table.hasIndex(index) || values.includes('')) continue;
    const rows = [...new Set(values)].flatMap((value) => table.by(index, value));
    return table.sort(rows.filter((row) => resource.isVisible(row, actor)));
  }
  if (tag !== undefined && table.hasIndex('tags')) {
    return table.sort(table.by('tags', tag).filter((row) => resource.isVisible(row, actor)));
  }
  return resource.visible(actor);
}

function sortRows<T extends NeutronRow>(
  resource: Resource<T>,
  rows: readonly T[],
  query: URLSearchParams,
  actor: Actor,
): readonly T[] {
  const keys = query.getAll('sort_key');
  if (keys.length === 0) return rows;
  if (query.getAll('sort_dir').length !== keys.length) {
    throw badRequest('The number of sort_keys and sort_dirs must be same');
  }
  const known = knownNames(resource);
  const unknown = keys.filter((key) => !known.has(key) && !key.endsWith('_at'));
  if (unknown.length > 0) {
    const list = unknown.map((key) => `'${key}'`).join(', ');
    throw badRequest(`[${list}] is invalid attribute for sort_keys`);
  }
  const directions = query.getAll('sort_dir').map((direction) => (direction === 'desc' ? -1 : 1));
  const keyed = rows.map((row) => ({ row, view: resource.view(row, actor) }));
  keyed.sort((left, right) => {
    for (const [index, key] of keys.entries()) {
      const order = compareValues(left.view[key], right.view[key]) * (directions[index] ?? 1);
      if (order !== 0) return order;
    }
    return left.row.id < right.row.id ? -1 : 1;
  });
  return keyed.map(({ row }) => row);
}

function compareValues(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const a = show(left);
  const b = show(right);
  return a < b ? -1 : a > b ? 1 : 0;
}

function readLimit(query: URLSearchParams, maxPage: number | undefined): number | undefined {
  const text = query.get('limit');
  if (text === null) return maxPage;
  if (!/^\d+$/.test(text)) {
    throw new Refusal(
      400,
      `Bad limit request: Limit must be an integer 0 or greater and not '${text}'.`,
      { type: 'BadRequest' },
    );
  }
  const limit = Number(text);
  if (limit === 0) return maxPage;
  return maxPage === undefined ? limit : Math.min(limit, maxPage);
}

function cutPage<T extends NeutronRow>(
  resource: Resource<T>,
  rows: readonly T[],
  limit: number,
  call: Call,
): { page: readonly T[]; links: { rel: string; href: string }[] } {
  const isReverse = call.query.get('page_reverse')?.toLowerCase() === 'true';
  const marker = call.query.get('marker');
  if (marker !== null && resource.table.get(marker) === undefined) throw resource.notFound(marker);
  const at = marker === null ? -1 : position(rows, marker);
  let page: readonly T[];
  if (isReverse) {
    const end = marker === null ? rows.length : at;
    page = rows.slice(Math.max(0, end - limit), end);
  } else {
    const start = marker !== null && rows[at]?.id === marker ? at + 1 : Math.max(at, 0);
    page = rows.slice(start, start + limit);
  }
  return { page, links: pageLinks(page, limit, isReverse, call) };
}

/** The position of the marker, or its position if it were not filtered out. */
function position(rows: readonly { id: string }[], marker: string): number {
  const exact = rows.findIndex((row) => row.id === marker);
  if (exact >= 0) return exact;
  const next = rows.findIndex((row) => row.id > marker);
  return next < 0 ? rows.length : next;
}

function pageLinks(
  page: readonly { id: string }[],
  limit: number,
  isReverse: boolean,
  call: Call,
): { rel: string; href: string }[] {
  const link = (rel: string, marker: string | undefined, reverse: boolean) => {
    const query = new URLSearchParams(call.query);
    query.delete('marker');
    query.delete('page_reverse');
    if (!query.has('limit')) query.set('limit', String(limit));
    if (marker !== undefined) query.append('marker', marker);
    if (reverse) query.append('page_reverse', 'True');
    return { rel, href: `${call.baseUrl}${call.path}?${query.toString()}` };
  };
  // A full page can be the last one. Only an empty or short page shows the end.
  const links = [];
  if (isReverse ? page.length > 0 : page.length >= limit) {
    links.push(link('next', page.at(-1)?.id, false));
  }
  links.push(link('previous', page[0]?.id, true));
  return links;
}

function project<T extends NeutronRow>(
  resource: Resource<T>,
  rows: readonly T[],
  query: URLSearchParams,
  actor: Actor,
): Record<string, unknown>[] {
  return rows.map((row) => pickFields(resource.view(row, actor), query));
}

export function pickFields(
  view: Record<string, unknown>,
  query: URLSearchParams,
): Record<string, unknown> {
  const fields = query.getAll('fields').filter((field) => field !== '');
  if (fields.length === 0) return view;
  return Object.fromEntries(Object.entries(view).filter(([name]) => fields.includes(name)));
}
