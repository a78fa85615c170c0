import { expect, test } from 'vitest';
import { outageFigures, readLines, type Line } from './outage-figures.ts';

const answer = (at: number, until: number, node?: string): Line => ({
  kind: 'answer',
  at,
  until,
  node,
  failure: node === undefined ? 'ABORT_ERR' : undefined,
});

test('the outage is from the last answer before the event to the first after it', () => {
  const lines: Line[] = [
    answer(0, 10, 'n1'),
    answer(500, 510, 'n1'),
    answer(900, 2_900),
    answer(950, 2_950),
    answer(2_500, 2_510, 'n2'),
    answer(2_520, 2_530, 'n2'),
  ];
  const figures = outageFigures(lines, 800);
  expect(figures).toMatchObject({ outageMs: 2_000, failed: 2, lastFailureMs: 150 });
  expect(figures.failures).toEqual(['ABORT_ERR at 100', 'ABORT_ERR at 150']);
});

test('ignores everything before the event', () => {
  const lines: Line[] = [answer(0, 10, 'n1'), answer(20, 30), answer(5_000, 5_010, 'n1')];
  const figures = outageFigures([...lines, answer(5_050, 5_060, 'n1')], 5_020);
  expect(figures).toMatchObject({ outageMs: 50, failed: 0, lastFailureMs: 0 });
});

test('takes downloads from the last report', () => {
  const report = (moving: number, still: number): Line => ({
    kind: 'downloads',
    at: 0,
    nodes: { n1: { moving, broken: 1, still }, n2: { moving: 4, broken: 0, still: 0 } },
  });
  const { downloads } = outageFigures([report(0, 5), report(5, 0)], 0);
  expect(downloads).toEqual({ of: 10, alive: 9, lostFrom: ['n1'] });
});

test('ignores an incomplete line', () => {
  expect(readLines('{"kind":"answer","at":1,"until":2}\n{"kind":"answ')).toHaveLength(1);
});
