import type { ServiceRow } from '../../overview/rows.ts';

/** One line per row: a word is searched in all of them at once, as one text. */
interface Index {
  readonly text: string;
  /** End of each row's line. */
  readonly ends: Uint32Array;
}

const lines = new WeakMap<ServiceRow, string>();
const indexes = new WeakMap<readonly ServiceRow[], Index>();

/** Prepares the search within the given time. Returns whether it is complete. */
export function prepareSearch(rows: readonly ServiceRow[], hasTime: () => boolean): boolean {
  if (indexes.has(rows)) return true;
  for (const row of rows) {
    if (lines.has(row)) continue;
    if (!hasTime()) return false;
    lineOf(row);
  }
  indexOf(rows);
  return true;
}

/** The rows that contain all words, in their order. Words are in lower case and without white space. */
export function searchRows(
  rows: readonly ServiceRow[],
  [first = '', ...others]: readonly string[],
): readonly ServiceRow[] {
  const { text, ends } = indexOf(rows);
  const found: ServiceRow[] = [];
  let place = 0;
  for (let at = text.indexOf(first); at >= 0; at = text.indexOf(first, ends[place - 1])) {
    while ((ends[place] ?? text.length) <= at) place += 1;
    const row = rows[place];
    if (row === undefined) break;
    if (others.every((word) => lineOf(row).includes(word))) found.push(row);
    place += 1;
  }
  return found;
}

function indexOf(rows: readonly ServiceRow[]): Index {
  const known = indexes.get(rows);
  if (known !== undefined) return known;
  const ends = new Uint32Array(rows.length);
  let end = 0;
  const all = rows.map((row, place) => {
    const line = lineOf(row);
    end += line.length;
    ends[place] = end;
    return line;
  });
  const made = { text: all.join(''), ends };
  indexes.set(rows, made);
  return made;
}

function lineOf(row: ServiceRow): string {
  const known = lines.get(row);
  if (known !== undefined) return known;
  const { key, provider, type, addresses, ports, state, reason, backend } = row;
  const parts = [key, provider, type, ...addresses, ...ports, state, reason, backend];
  // The line break prevents matches across two rows.
  const line = `${parts.join(' ').toLowerCase()}\n`;
  lines.set(row, line);
  return line;
}
