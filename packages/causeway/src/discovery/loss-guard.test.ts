import { describe, expect, test } from 'vitest';
import { LossGuard, type LossReport } from './loss-guard.ts';

const lost = (id: string, way = 'load-balancer', ports = 1, endpoints = 0) => ({
  id,
  loss: { way, ports, endpoints, losing: new Set<string>(), leavesContent: false },
});
const has = (ports: number, endpoints = 0) => ({ ports, endpoints });
const report = (projectId: string, leaves: LossReport['leaves'], ...ids: string[]): LossReport => ({
  projectId,
  leaves,
  lost: ids.map((id) => lost(id)),
});
const released = (guard: LossGuard, reports: LossReport[], filled = 100, isConfirmed = false) =>
  [...guard.judge(reports, has(filled), isConfirmed).released].sort();

describe('released at once', () => {
  test('one of several', () => {
    const guard = new LossGuard({ maxLossShare: 0.25 });
    expect(released(guard, [report('p', 'content', 'a')])).toEqual(['a']);
  });

  test('any loss after confirmation', () => {
    const guard = new LossGuard({ maxLossShare: 0 });
    expect(released(guard, [report('p', 'nothing', 'a', 'b')], 2, true)).toEqual(['a', 'b']);
  });

  test('up to the share, and not beyond', () => {
    const guard = new LossGuard({ maxLossShare: 0.25 });
    const within = [report('p', 'content', 'a'), report('q', 'content', 'b')];
    expect(released(guard, within, 8)).toEqual(['a', 'b']);
    const beyond = [report('p', 'content', 'c'), report('q', 'content', 'd')];
    expect(released(guard, beyond, 7)).toEqual([]);
  });

  test('a share of the ports, on any number of load balancers', () => {
    const guard = new LossGuard({ maxLossShare: 0.25 });
    const losing = (ports: number): LossReport[] => [
      { projectId: 'p', leaves: 'content', lost: [lost('a', 'ports', ports)] },
    ];
    expect(released(guard, losing(2), 8)).toEqual(['a']);
    expect(released(guard, losing(3), 8)).toEqual([]);
  });

  test('a share of the endpoints, or a few of them, unless no loss is allowed', () => {
    const holds = (share: number, endpoints: number, of: number) => {
      const some = lost('a', 'some endpoints', 0, endpoints);
      const reports: LossReport[] = [{ projectId: 'p', leaves: 'content', lost: [some] }];
      return new LossGuard({ maxLossShare: share }).judge(reports, has(100, of), false).held.length;
    };
    expect([holds(0.25, 25, 100), holds(0.25, 26, 100)]).toEqual([0, 1]);
    expect([holds(0.25, 10, 12), holds(0.25, 11, 12)]).toEqual([0, 1]);
    expect([holds(0, 0, 12), holds(0, 1, 12)]).toEqual([0, 1]);
  });

  test('any number of load balancers without content', () => {
    const guard = new LossGuard({ maxLossShare: 0 });
    const shells = ['a', 'b', 'c'].map((id) => lost(id, 'load-balancer', 0));
    const reports: LossReport[] = [{ projectId: 'p', leaves: 'shells', lost: shells }];
    expect(released(guard, reports, 3)).toEqual(['a', 'b', 'c']);
  });
});

describe('released after three cycles that agree', () => {
  test('a project that loses everything', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const empty = [report('p', 'nothing', 'a', 'b')];
    const first = guard.judge(empty, has(100), false);
    expect(first.held).toEqual([
      { projectId: 'p', lost: ['a', 'b'], because: 'project-emptied', agreements: 1 },
    ]);
    expect(released(guard, empty)).toEqual([]);
    expect(released(guard, empty)).toEqual(['a', 'b']);
    // Their deletion failed: it is not held again.
    expect(released(guard, empty)).toEqual(['a', 'b']);
  });

  test('a project that keeps only load balancers without content', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    expect(released(guard, [report('p', 'shells', 'a')])).toEqual([]);
  });

  test('a project that loses even its load balancers without content', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const shells = [lost('a', 'load-balancer', 0)];
    expect(released(guard, [{ projectId: 'p', leaves: 'nothing', lost: shells }])).toEqual([]);
  });

  test('in a row: a load balancer that returns starts the count again', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const empty = [report('p', 'nothing', 'a')];
    released(guard, empty);
    released(guard, empty);
    released(guard, []);
    expect(released(guard, empty)).toEqual([]);
    expect(released(guard, empty)).toEqual([]);
    expect(released(guard, empty)).toEqual(['a']);
  });

  test('with the same loss: cycles with different losses do not agree', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const losing = (way: string): LossReport[] => [
      { projectId: 'p', leaves: 'nothing', lost: [lost('a', way)] },
    ];
    for (const way of ['endpoints', 'ports', 'load-balancer', 'load-balancer']) {
      expect(released(guard, losing(way))).toEqual([]);
    }
    expect(released(guard, losing('load-balancer'))).toEqual(['a']);
  });

  test('with the same load balancers: if others return, no loss of the project is released', () => {
    const guard = new LossGuard({ maxLossShare: 0 });
    for (const others of [['b'], ['c'], ['d', 'e'], ['e'], ['e']]) {
      expect(released(guard, [report('p', 'content', 'a', ...others)])).toEqual([]);
    }
    expect(released(guard, [report('p', 'content', 'a', 'e')])).toEqual(['a', 'e']);
  });

  test('in a row: a failed cycle starts the count again', () => {
    const guard = new LossGuard({ maxLossShare: 1 });
    const empty = [report('p', 'nothing', 'a')];
    released(guard, empty);
    released(guard, empty);
    guard.reset();
    expect(released(guard, empty)).toEqual([]);
  });

  test('a later loss waits longer, and delays no other', () => {
    const guard = new LossGuard({ maxLossShare: 0 });
    released(guard, [report('p', 'content', 'a')]);
    released(guard, [report('p', 'content', 'a', 'b')]);
    expect(released(guard, [report('p', 'content', 'a', 'b')])).toEqual(['a']);
    expect(released(guard, [report('p', 'content', 'b')])).toEqual(['b']);
  });
});
