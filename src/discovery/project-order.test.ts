import { expect, test } from 'vitest';
import { ProjectOrder } from './project-order.ts';

const projects = ['b', 'd', 'a', 'c'].map((id) => ({ id }));
const arranged = (order: ProjectOrder) =>
  order
    .arrange(projects)
    .map(({ id }) => id)
    .join('');

test('each cycle begins after the last project that was silent, even if it is gone', () => {
  const order = new ProjectOrder();
  expect(arranged(order)).toBe('abcd');
  order.wasSilent('b');
  expect(arranged(order)).toBe('cdab');
  order.wasSilent('cc');
  expect(arranged(order)).toBe('dabc');
  order.wasSilent('d');
  expect(arranged(order)).toBe('abcd');
});
