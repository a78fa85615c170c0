import { expect, it } from 'vitest';
import { Table, byId } from './table.ts';

interface Thing {
  readonly id: string;
  color: string;
  tags: string[];
}

function tableOf(...things: Thing[]): Table<Thing> {
  const table = new Table<Thing>({ color: (row) => [row.color], tags: (row) => row.tags }, byId);
  for (const thing of things) table.insert(thing);
  return table;
}

it('finds rows by index after changes and removals', () => {
  const red = { id: 'b', color: 'red', tags: ['x', 'y'] };
  const table = tableOf(red, { id: 'a', color: 'red', tags: [] });
  expect(table.count('color', 'red')).toBe(2);
  table.update(red, { color: 'blue', tags: ['y'] });
  expect(table.by('color', 'red').map(({ id }) => id)).toEqual(['a']);
  expect(table.by('color', 'blue')).toEqual([red]);
  expect(table.by('tags', 'x')).toEqual([]);
  table.delete('b');
  expect(table.by('tags', 'y')).toEqual([]);
  expect(table.size).toBe(1);
});

it("lists rows in the table's order, independently of the insertion order", () => {
  const table = tableOf(
    { id: 'c', color: 'red', tags: [] },
    { id: 'a', color: 'red', tags: [] },
    { id: 'b', color: 'red', tags: [] },
  );
  expect(table.all().map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  table.insert({ id: 'aa', color: 'red', tags: [] });
  expect(table.all().map(({ id }) => id)).toEqual(['a', 'aa', 'b', 'c']);
});
