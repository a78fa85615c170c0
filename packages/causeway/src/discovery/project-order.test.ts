import { expect, test } from 'vitest';
import { ProjectOrder } from './project-order.ts';

const projects = ['b', 'd', 'a', 'c'].map((id) => ({ id }));
const arranged = (order: ProjectOrder) =>
  order
    .arrange(projects)
    .map(({ id }) => id)
    .join('');

test('begins each cycle after the project that ended the last one early, even if it was deleted', () => {
  const order = new ProjectOrder(() => 0);
  expect(arranged(order)).toBe('abcd');
  order.endedAt('b');
  expect(arranged(order)).toBe('cdab');
  order.endedAt('cc');
  expect(arranged(order)).toBe('dabc');
  order.endedAt('d');
  expect(arranged(order)).toBe('abcd');
});

test('begins the first cycle of a process anywhere', () => {
  const first = (chance: number) => arranged(new ProjectOrder(() => chance));
  expect([first(0), first(0.3), first(0.999)]).toEqual(['abcd', 'bcda', 'dabc']);
  expect(new ProjectOrder(() => 0.5).arrange([])).toEqual([]);
  const order = new ProjectOrder(() => 0.3);
  expect([arranged(order), arranged(order)]).toEqual(['bcda', 'abcd']);
});
