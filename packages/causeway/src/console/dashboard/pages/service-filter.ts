import type { ServiceRow, ServiceState } from '../../overview/rows.ts';
import { searchRows } from './search-index.ts';

export interface ServiceFilter {
  /** Words that must all occur in name, address, provider, port or reason. */
  readonly search: string;
  readonly state: ServiceState | 'all' | 'outside';
}

/** States of Services that are not reachable from outside of the cluster. */
const hidden: ReadonlySet<ServiceState> = new Set(['internal']);

export function filterServices(
  rows: readonly ServiceRow[],
  { search, state }: ServiceFilter,
): readonly ServiceRow[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? rows : searchRows(rows, words);
  return state === 'all' ? found : found.filter((row) => hasState(row, state));
}

function hasState(row: ServiceRow, state: ServiceFilter['state']): boolean {
  if (state === 'outside') return !hidden.has(row.state) || row.backend !== '';
  return row.state === state;
}

const counted = new WeakMap<readonly ServiceRow[], ReadonlyMap<ServiceState, number>>();

/** Cached per list: it is needed at every keystroke of a search. */
export function countStates(rows: readonly ServiceRow[]): ReadonlyMap<ServiceState, number> {
  const known = counted.get(rows);
  if (known !== undefined) return known;
  const counts = new Map<ServiceState, number>();
  for (const { state } of rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  counted.set(rows, counts);
  return counts;
}
