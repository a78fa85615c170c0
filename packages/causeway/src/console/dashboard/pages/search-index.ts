import type { ServiceRow } from '../../overview/rows.ts';

/** A line for each row: a word is looked for in all of them at once, as one search in one text. */
interface Index {
  readonly text: string;
  /** Where the line of each row ends. */
  readonly ends: Uint32Array;
}

const lines = new WeakMap<ServiceRow, string>();
const indexes = new WeakMap<readonly ServiceRow[], Index>();

/** Makes what a search needs, as long as there is time. Answers whether all is made. */
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

/** The rows in which all words occur, in their order. Words are in lower case and have no white space. */
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
  // The end of a line keeps words from being found across two rows.
  const line = `${parts.join(' ').toLowerCase()}\n`;
  lines.set(row, line);
  return line;
}
