import { expect, it } from 'vitest';
import { formatReport, parseReport } from './activity-report.ts';
import { decideAutoIdle } from './decide-auto-idle.ts';

const report = (node: string, quiet?: number) => ({
  node,
  quietSeconds: new Map(quiet === undefined ? [] : [['shop/web', quiet]]),
});
const base = { service: 'shop/web', idleAfter: '10m', isAsleep: false, nodes: ['a', 'b'] };
const reports = (...all: ReturnType<typeof report>[]) => new Map(all.map((one) => [one.node, one]));

it.each([
  ['quiet everywhere', { reports: reports(report('a', 700), report('b', 600)) }, 'idle'],
  ['busy on one node', { reports: reports(report('a', 700), report('b', 599)) }, 'stay'],
  ['a node has not reported', { reports: reports(report('a', 700)) }, 'stay'],
  ['a node does not speak of it', { reports: reports(report('a', 700), report('b')) }, 'stay'],
  ['no nodes', { nodes: [], reports: reports() }, 'stay'],
  [
    'asleep already',
    { isAsleep: true, reports: reports(report('a', 700), report('b', 700)) },
    'stay',
  ],
  ['no length of time', { idleAfter: '10', reports: reports() }, 'invalid'],
])('%s', (_, change, kind) => {
  expect(decideAutoIdle({ ...base, ...change }).kind).toBe(kind);
});

it('a report is read as it was written, and nonsense is none', () => {
  const written = formatReport('kube-system', report('a', 5), 1);
  expect(parseReport(written)).toEqual(report('a', 5));
  expect(parseReport({ data: { 'report.json': '{}' } })).toBeUndefined();
  expect(parseReport({ data: { 'report.json': '{' } })).toBeUndefined();
  expect(parseReport({})).toBeUndefined();
});
