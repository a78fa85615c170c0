import { expect, it } from 'vitest';
import { formatReport, parseReport } from './activity-report.ts';
import { decideAutoIdle } from './decide-auto-idle.ts';

const report = (node: string, quiet?: number) => ({
  node,
  quietSeconds: new Map(quiet === undefined ? [] : [['shop/web', quiet]]),
  writtenAfter: 1_000_000,
});
const base = {
  service: 'shop/web',
  idleAfter: '10m',
  isPastNodes: false,
  awakeSince: 0,
  nodes: ['a', 'b'],
};
const reports = (...all: ReturnType<typeof report>[]) => new Map(all.map((one) => [one.node, one]));

it.each([
  ['no connections on any node', { reports: reports(report('a', 700), report('b', 600)) }, 'idle'],
  ['busy on one node', { reports: reports(report('a', 700), report('b', 599)) }, 'stay'],
  ['a node has not reported', { reports: reports(report('a', 700)) }, 'stay'],
  [
    'the report of a node lacks the Service',
    { reports: reports(report('a', 700), report('b')) },
    'stay',
  ],
  ['no nodes', { nodes: [], reports: reports() }, 'stay'],
  [
    'idle already',
    { awakeSince: undefined, reports: reports(report('a', 700), report('b', 700)) },
    'stay',
  ],
  [
    'the Service woke after the reports were written',
    { awakeSince: 1_000_001, reports: reports(report('a', 700), report('b', 700)) },
    'stay',
  ],
  [
    'the Service woke before the reports, and recently',
    { awakeSince: 400_001, reports: reports(report('a', 700), report('b', 700)) },
    'stay',
  ],
  [
    'the Service woke long ago',
    { awakeSince: 400_000, reports: reports(report('a', 700), report('b', 700)) },
    'idle',
  ],
  [
    'its gateways send straight to its pods',
    { isPastNodes: true, reports: reports(report('a', 700), report('b', 700)) },
    'invalid',
  ],
  ['no length of time', { idleAfter: '10', reports: reports() }, 'invalid'],
  ['no time at all', { idleAfter: '0s', reports: reports() }, 'invalid'],
])('%s', (_, change, kind) => {
  expect(decideAutoIdle({ ...base, ...change }).kind).toBe(kind);
});

it('parses a report as it was written, and rejects an invalid one', () => {
  const { node, quietSeconds } = report('a', 5);
  const written = formatReport('kube-system', { node, quietSeconds }, 1);
  expect(parseReport(written)).toEqual({ node, quietSeconds });
  expect(parseReport({ data: { 'report.json': '{}' } })).toBeUndefined();
  expect(parseReport({ data: { 'report.json': '{' } })).toBeUndefined();
  expect(parseReport({})).toBeUndefined();
});
