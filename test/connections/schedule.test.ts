import { describe, expect, test } from 'vitest';
import { describeStep, makeSchedule, type ScheduleOptions, type Step } from './schedule.ts';

const nodes = ['n1', 'n2', 'n3'];
const options: ScheduleOptions = { seed: 1, seconds: 300, nodes, failovers: 'anywhere' };
const stepsOf = (changes: Partial<ScheduleOptions>): Step[] =>
  makeSchedule({ ...options, ...changes }).map(({ step }) => step);
const seeds = Array.from({ length: 50 }, (_, seed) => seed);
const changesBackends = ({ kind }: Step) => kind !== 'failover' && kind !== 'return';

describe('a schedule', () => {
  test('is the same for the same seed, and another one for another seed', () => {
    expect(makeSchedule(options)).toEqual(makeSchedule(options));
    expect(makeSchedule(options)).not.toEqual(makeSchedule({ ...options, seed: 2 }));
  });

  test.each(seeds)('of seed %i takes the requested time and contains every kind', (seed) => {
    const steps = makeSchedule({ ...options, seed });
    const seconds = steps.reduce(
      (total, { step, pauseSeconds }) =>
        total + pauseSeconds + ('seconds' in step ? step.seconds : 0),
      0,
    );
    expect(seconds).toBeGreaterThanOrEqual(options.seconds);
    expect(new Set(steps.map(({ step }) => step.kind))).toEqual(
      new Set([
        ...['scale', 'restart', 'drain', 'uncordon', 'pod overload'],
        ...['node overload', 'node flap', 'failover', 'return'],
      ]),
    );
  });

  test.each(seeds)('of seed %i has one drained node and one absent gateway at most', (seed) => {
    let cordoned: string | undefined;
    let isOneAway = false;
    for (const step of stepsOf({ seed })) {
      if (step.kind === 'drain') {
        expect(cordoned).toBeUndefined();
        cordoned = step.node;
      }
      if (step.kind === 'uncordon') {
        expect(step.node).toBe(cordoned);
        cordoned = undefined;
      }
      if (step.kind === 'failover' || step.kind === 'return') {
        expect(isOneAway).toBe(step.kind === 'return');
        isOneAway = step.kind === 'failover';
      }
    }
    expect({ cordoned, isOneAway }).toEqual({ cordoned: undefined, isOneAway: false });
  });

  test.each(seeds)('of seed %i can have all failovers before the first other step', (seed) => {
    const steps = stepsOf({ seed, failovers: 'first' });
    const first = steps.findIndex(changesBackends);
    expect(steps.slice(0, first).map(({ kind }) => kind)).toEqual([
      ...['failover', 'return', 'failover', 'return'],
    ]);
    expect(steps.slice(first).every(changesBackends)).toBe(true);
  });
});

test('a step has a description', () => {
  const described: readonly (readonly [Step, string])[] = [
    [{ kind: 'scale', replicas: 4 }, 'scale to 4'],
    [{ kind: 'restart' }, 'rolling restart'],
    [{ kind: 'drain', node: 'n1' }, 'drain n1'],
    [
      { kind: 'pod overload', pod: 2, failsReadiness: true, seconds: 3 },
      'pod overload (pod 2, 3 s, not ready)',
    ],
    [{ kind: 'node overload', node: 'n1', seconds: 3 }, 'node overload (n1, 3 s)'],
    [
      { kind: 'node flap', node: 'n1', losesLink: true, seconds: 3 },
      'node flap (n1, 3 s, without link)',
    ],
    [{ kind: 'failover', how: 'power cut' }, 'failover (power cut)'],
    [{ kind: 'return' }, 'return of the gateway'],
  ];
  for (const [step, text] of described) expect(describeStep(step)).toBe(text);
});
