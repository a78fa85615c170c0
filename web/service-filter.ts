import type { ServiceRow, ServiceState } from '../src/overview/rows.ts';

export interface ServiceFilter {
  /** Words that must all occur, in name, address, provider, port or reason. */
  readonly search: string;
  readonly state: ServiceState | 'all' | 'outside';
}

/** The states of Services that somebody outside of the cluster can have to do with. */
const hidden: ReadonlySet<ServiceState> = new Set(['internal']);

export function filterServices(
  rows: readonly ServiceRow[],
  { search, state }: ServiceFilter,
): readonly ServiceRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && state === 'all') return rows;
  return rows.filter(
    (row) => hasState(row, state) && words.every((word) => searchText(row).includes(word)),
  );
}

function hasState(row: ServiceRow, state: ServiceFilter['state']): boolean {
  if (state === 'all') return true;
  if (state === 'outside') return !hidden.has(row.state) || row.backend !== '';
  return row.state === state;
}

/** Makes the texts that are searched, as long as there is time. Answers whether all are made. */
export function prepareSearch(rows: readonly ServiceRow[], hasTime: () => boolean): boolean {
  for (const row of rows) {
    if (texts.has(row)) continue;
    if (!hasTime()) return false;
    searchText(row);
  }
  return true;
}

const texts = new WeakMap<ServiceRow, string>();

function searchText(row: ServiceRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const { key, provider, type, addresses, ports, state, reason, backend } = row;
  const parts = [key, provider, type, ...addresses, ...ports, state, reason, backend];
  const text = parts.join(' ').toLowerCase();
  texts.set(row, text);
  return text;
}

const counted = new WeakMap<readonly ServiceRow[], ReadonlyMap<ServiceState, number>>();

/** Counted once for a list: it is asked for with every key of a search. */
export function countStates(rows: readonly ServiceRow[]): ReadonlyMap<ServiceState, number> {
  const known = counted.get(rows);
  if (known !== undefined) return known;
  const counts = new Map<ServiceState, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  counted.set(rows, counts);
  return counts;
}
