import { describe, expect, test } from 'vitest';
import { LossGuard, type LossReport } from './loss-guard.ts';

const report = (projectId: string, replicated: number, ...lost: string[]): LossReport => ({
  projectId,
  replicated,
  lost,
});
const released = (guard: LossGuard, reports: LossReport[], all = 100, isConfirmed = false) =>
  [...guard.judge(reports, all, isConfirmed).released].sort();

describe('what is believed at once', () => {
  test('one of several', () => {
    expect(released(new LossGuard({ maxLossShare: 0.25 }), [report('p', 3, 'a')])).toEqual(['a']);
  });

  test('anything, when it is confirmed', () => {
    const guard = new LossGuard({ maxLossShare: 0 });
    expect(released(guard, [report('p', 2, 'a', 'b')], 2, true)).toEqual(['a', 'b']);
  });

  test('up to the share, and not beyond', () => {
    const guard = new LossGuard({ maxLossShare: 0.25 });
    expect(released(guard, [report('p', 9, 'a'), report('q', 3, 'b')], 8)).toEqual(['a', 'b']);
    expect(released(guard, [report('p', 9, 'c'), report('q', 3, 'd')], 7)).toEqual([]);
  });
});

describe('what has to be said three times', () => {
  test('a project that loses everything', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const empty = [report('p', 2, 'a', 'b')];
    const first = guard.judge(empty, 100, false);
    expect(first.held).toEqual([
      { projectId: 'p', lost: ['a', 'b'], because: 'project-emptied', agreements: 1 },
    ]);
    expect(released(guard, empty)).toEqual([]);
    expect(released(guard, empty)).toEqual(['a', 'b']);
  });

  test('in a row: one that comes back begins anew', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const empty = [report('p', 1, 'a')];
    released(guard, empty);
    released(guard, empty);
    released(guard, []);
    expect(released(guard, empty)).toEqual([]);
    expect(released(guard, empty)).toEqual([]);
    expect(released(guard, empty)).toEqual(['a']);
  });

  test('a cycle that failed breaks the row too', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const empty = [report('p', 1, 'a')];
    released(guard, empty);
    released(guard, empty);
    guard.forget();
    expect(released(guard, empty)).toEqual([]);
  });

  test('each load balancer is counted by itself', () => {
    const guard = new LossGuard({ maxLossShare: 0 });
    released(guard, [report('p', 9, 'a')]);
    released(guard, [report('p', 9, 'a', 'b')]);
    expect(released(guard, [report('p', 9, 'a', 'b')])).toEqual(['a']);
  });
});
