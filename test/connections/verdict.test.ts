import { describe, expect, test } from 'vitest';
import type { LostConnection, TrafficLine } from './traffic-lines.ts';
import { describeBroken, describeVerdict, judge, type PodEnds, type RunEvent } from './verdict.ts';

const lost: LostConnection = {
  ...{ kind: 'lost', id: 'c-1', path: 'gateway', family: 4, direction: 'up', backend: 'web-1' },
  ...{ openedAt: 1_000, progressAt: 9_000, endedAt: 20_000, cause: 'ECONNRESET' },
};
const pods: PodEnds = new Map([
  ['web-1', undefined],
  ['web-2', 20_000],
]);
const events: readonly RunEvent[] = [
  { at: 5_000, completeAt: 5_000, step: { kind: 'scale', replicas: 3 } },
  { at: 15_000, completeAt: 18_000, step: { kind: 'failover', how: 'power cut' } },
];
const verdictOf = (...lines: TrafficLine[]) => judge(lines, { pods, events, hasPins: true });

describe('a lost connection', () => {
  test('is broken while its pod runs, with the event before its end', () => {
    expect(verdictOf(lost).broken).toMatchObject([
      { id: 'c-1', backend: 'web-1', at: 20_000, event: 'failover (power cut)' },
    ]);
  });

  test.each([
    ['ends with its pod', { ...lost, backend: 'web-2' }, 0],
    ['ends just before the end of its pod', { ...lost, backend: 'web-2', endedAt: 19_500 }, 0],
    ['ends long before the end of its pod', { ...lost, backend: 'web-2', endedAt: 17_000 }, 1],
    ['was never established', { ...lost, backend: undefined }, 0],
  ])('that %s', (_, line, broken) => {
    expect(verdictOf(line).broken).toHaveLength(broken);
  });

  test('that stalled broke after its last progress', () => {
    const stalled = { ...lost, cause: 'stalled', direction: 'down' } as const;
    expect(verdictOf(stalled).broken).toMatchObject([{ at: 9_000, event: 'scale to 3' }]);
  });

  test('that stalled is not broken if its pod ended before the client gave up', () => {
    const stalled = { ...lost, cause: 'stalled', backend: 'web-2', direction: 'down' } as const;
    expect(verdictOf(stalled).broken).toEqual([]);
    expect(verdictOf({ ...stalled, endedAt: 18_000 }).broken).toHaveLength(1);
  });

  test('of an upload broke after the last progress that the server saw', () => {
    const stall = { kind: 'stalled', id: 'c-1', backend: 'web-2', progressAt: 3_000 } as const;
    expect(verdictOf(stall, { ...lost, backend: 'web-2' }).broken).toMatchObject([
      { at: 3_000, event: 'the start' },
    ]);
  });

  test('that was never established counts for the event before it was opened', () => {
    const { unopened } = verdictOf({ ...lost, backend: undefined, openedAt: 6_000 });
    expect([...unopened]).toEqual([['ECONNRESET, after scale to 3', 1]]);
  });
});

test('a verdict has the counts of each path, and each broken connection with its event', () => {
  const counts = { running: 0, established: 7, finished: 5, lost: 1, unopened: 1 };
  const text = describeVerdict(
    verdictOf(
      { kind: 'summary', at: 1, counts: { gateway: { ...counts, established: 1 } } },
      { kind: 'summary', at: 2, counts: { gateway: counts } },
      lost,
      { ...lost, id: 'c-2', backend: 'web-2' },
    ),
  );
  expect(text.split('\n')).toEqual([
    'gateway: 7 established, 5 finished, 1 not opened, 1 broken',
    '1 connections ended with their pod',
    '1 broken: gateway, up, after failover (power cut)',
  ]);
});

test.each([
  ['a connection', {}, undefined],
  ['a rewritten source', { path: 'gateway, local source' }, 'source was rewritten'],
  [
    'a download from a backend with two frontends that began just before',
    { path: 'gateway, shared backends', direction: 'down', openedAt: 18_000 },
    'pin was not handed over yet',
  ],
  [
    'an older download from such a backend',
    { path: 'gateway, shared backends', direction: 'down' },
    undefined,
  ],
  ['an upload to such a backend', { path: 'gateway, shared backends' }, undefined],
  ['a closing connection', { cause: 'stalled at its end', progressAt: 16_000 }, undefined],
  ['no failover', { path: 'gateway, local source', endedAt: 40_000 }, undefined],
] as const)('the known loss of %s', (_, changes, knownLoss) => {
  expect(verdictOf({ ...lost, ...changes }).broken).toMatchObject([{ knownLoss }]);
});

test('without pins, a failover may break an upload', () => {
  const lossOf = (direction: 'up' | 'down') =>
    judge([{ ...lost, direction }], { pods, events, hasPins: false }).broken[0]?.knownLoss;
  expect([lossOf('up'), lossOf('down')]).toEqual(['slot may have moved', undefined]);
});

test('a broken connection has a description', () => {
  const [broken] = verdictOf(lost).broken;
  expect(broken === undefined ? '' : describeBroken(broken)).toBe(
    '00:00:20.000 c-1 (gateway, IPv4, up) to web-1: ECONNRESET, after failover (power cut)',
  );
});
