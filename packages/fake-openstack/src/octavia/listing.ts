import type { Actor } from '../actor.ts';
import type { Answer, Call } from '../http/call.ts';
import { Refusal } from '../http/refusal.ts';
import type { Table } from '../table.ts';
import { readTagFilter, tagArguments, tagsMatch } from '../tag-filter.ts';
import { show, type Fields } from './fields.ts';
import { invalid, policyRefusal } from './refusals.ts';
import type { OctaviaRow } from './rows.ts';
import type { View } from './views.ts';

export interface Listing<T extends OctaviaRow> {
  readonly collection: string;
  readonly table: Table<T>;
  readonly view: (row: T) => View;
  /** Fields for filters and sorting, in addition to those of all objects. */
  readonly fields: Fields;
  /** Filters with a name that differs from the field, and the value that they match. */
  readonly filters?: Readonly<Record<string, (row: T) => unknown>>;
  /** The rows to filter, if the path already restricts them. */
  readonly rows?: readonly T[];
}

const auxiliary = new Set([
  ...['fields', 'limit', 'marker', 'page_reverse', 'sort', 'sort_key', 'sort_dir'],
  ...tagArguments,
]);

/** Lists rows like Octavia. The links contain the limit and the order, but not the filters. */
export function listAnswer<T extends OctaviaRow>(
  listing: Listing<T>,
  call: Call,
  actor: Actor,
  maxPage: number,
): Answer {
  const { collection, table } = listing;
  const filters = readFilters(listing, call.query);
  const tags = readTagFilter(call.query);
  const rows = candidates(listing, filters, tags.all[0], actor)
    .filter((row) => filters.every(({ field, value }) => matches(field(row), value)))
    .filter((row) => tagsMatch(tags, row.tags));
  const sorted = sortRows(listing, rows, call.query);
  const limit = readLimit(call.query, maxPage);
  const marker = call.query.get('marker');
  if (marker !== null && table.get(marker) === undefined) {
    throw invalid(`Supplied pagination marker '${marker}' is not valid.`);
  }
  const page = cut(sorted, limit, marker, call.query.get('page_reverse') === 'True');
  const fields = call.query.getAll('fields');
  const items = page.map((row) => pick(listing.view(row), fields));
  const links = pageLinks(page, limit, marker, call);
  return { status: 200, body: { [collection]: items, [`${collection}_links`]: links } };
}

interface Filter<T> {
  readonly name: string;
  readonly value: string;
  readonly field: (row: T) => unknown;
}

function readFilters<T extends OctaviaRow>(
  listing: Listing<T>,
  query: URLSearchParams,
): Filter<T>[] {
  return [...new Set(query.keys())]
    .filter((name) => !auxiliary.has(name))
    .map((name) => {
      const values = query.getAll(name);
      const canonical = name === 'tenant_id' ? 'project_id' : name;
      const field = listing.filters?.[canonical] ?? ((row: T) => row[canonical as keyof T]);
      const isKnown = listing.filters?.[canonical] !== undefined || isField(listing, canonical);
      if (!isKnown || values.length > 1) {
        throw invalid('One or more arguments are either duplicate or invalid');
      }
      return { name: canonical, value: values[0] ?? '', field };
    });
}

const commonFields = [
  ...['id', 'provisioning_status', 'operating_status', 'created_at', 'updated_at'],
  ...['loadbalancer_id', 'pool_id'],
];

function isField<T extends OctaviaRow>({ fields }: Listing<T>, name: string): boolean {
  return name in fields || commonFields.includes(name);
}

function matches(actual: unknown, wanted: string): boolean {
  if (Array.isArray(actual)) return actual.includes(wanted);
  if (typeof actual === 'boolean') return (wanted.toLowerCase() === 'true') === actual;
  return actual !== null && actual !== undefined && show(actual) === wanted;
}

function candidates<T extends OctaviaRow>(
  { table, rows }: Listing<T>,
  filters: readonly Filter<T>[],
  tag: string | undefined,
  actor: Actor,
): readonly T[] {
  const wantedProject = filters.find(({ name }) => name === 'project_id')?.value;
  if (!actor.isAdmin && wantedProject !== undefined && wantedProject !== actor.projectId) {
    throw policyRefusal();
  }
  const isVisible = (row: T) => actor.isAdmin || row.project_id === actor.projectId;
  if (rows !== undefined) return rows.filter(isVisible);
  for (const { name, value } of filters) {
    if (name === 'id')
      return [table.get(value)].filter((row) => row !== undefined && isVisible(row)) as T[];
    if (name !== 'project_id' && table.hasIndex(name)) {
      return table.sort(table.by(name, value).filter(isVisible));
    }
  }
  if (tag !== undefined) return table.sort(table.by('tags', tag).filter(isVisible));
  if (!actor.isAdmin) return table.sort(table.by('project_id', actor.projectId));
  return wantedProject === undefined
    ? table.all()
    : table.sort(table.by('project_id', wantedProject));
}

function sortRows<T extends OctaviaRow>(
  listing: Listing<T>,
  rows: readonly T[],
  query: URLSearchParams,
): readonly T[] {
  const keys = (query.get('sort') ?? '')
    .split(',')
    .filter((key) => key !== '')
    .map((key) => key.split(':'))
    .map(([name = '', direction]) => ({ name, sign: direction === 'desc' ? -1 : 1 }));
  if (keys.length === 0) return rows;
  for (const { name } of keys) {
    if (!isField(listing, name)) throw invalid(`Supplied sort key '${name}' is not valid.`);
  }
  const order = new Map(rows.map((row, index) => [row.id, index]));
  return [...rows].sort((left, right) => {
    for (const { name, sign } of keys) {
      const result = compare(left[name as keyof T], right[name as keyof T]) * sign;
      if (result !== 0) return result;
    }
    return (order.get(left.id) ?? 0) - (order.get(right.id) ?? 0);
  });
}

function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  const a = show(left);
  const b = show(right);
  return a < b ? -1 : a > b ? 1 : 0;
}

function readLimit(query: URLSearchParams, maxPage: number): number {
  const text = query.get('limit');
  if (text === null) return maxPage;
  if (!/^-?\d+$/.test(text)) {
    throw new Refusal(400, `Supplied pagination limit '${text}' is not valid.`, { plain: true });
  }
  const limit = Number(text);
  if (limit < 1) {
    throw new Refusal(500, "'>=' not supported between instances of 'int' and 'NoneType'");
  }
  return Math.min(limit, maxPage);
}

function cut<T extends OctaviaRow>(
  rows: readonly T[],
  limit: number,
  marker: string | null,
  isReverse: boolean,
): readonly T[] {
  const at = marker === null ? -1 : rows.findIndex((row) => row.id === marker);
  if (!isReverse) return rows.slice(at + 1, at + 1 + limit);
  const end = at < 0 ? rows.length : at;
  return rows.slice(Math.max(0, end - limit), end);
}

function pageLinks(
  page: readonly { id: string }[],
  limit: number,
  marker: string | null,
  call: Call,
): { rel: string; href: string }[] {
  const [first] = page;
  const last = page.at(-1);
  if (first === undefined || last === undefined) return [];
  const sort = call.query.get('sort');
  const start = `${call.baseUrl}${call.path}?limit=${limit}${sort === null ? '' : `&sort=${sort}`}`;
  const links = [];
  if (marker !== null) {
    links.push({ rel: 'previous', href: `${start}&marker=${first.id}&page_reverse=True` });
  }
  if (page.length >= limit) links.push({ rel: 'next', href: `${start}&marker=${last.id}` });
  return links;
}

export function pick(view: View, fields: readonly string[]): View {
  if (fields.length === 0) return view;
  return Object.fromEntries(Object.entries(view).filter(([name]) => fields.includes(name)));
}
