import { expect, test } from 'vitest';
import { discardLog } from '@causeway/base/observability/log';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import type { Problem } from './problem.ts';
import { ProblemReporter } from './problem-reporter.ts';

const about = { kind: 'Service', namespace: 'demo', name: 'web' };
const refusal: Problem = { severity: 'refusal', reason: 'AddressRefused', message: 'no' };
const note: Problem = { severity: 'note', reason: 'NoListeners', message: 'none' };

function setUp() {
  const clock = new SimulatedClock();
  const recorded: string[] = [];
  const state = { isTaken: true };
  const recordEvent = (_: unknown, { reason }: { readonly reason: string }) => {
    recorded.push(reason);
    return state.isTaken;
  };
  const reporter = new ProblemReporter(recordEvent, clock, discardLog);
  /** The Events of one cycle. */
  const cycle = (...problems: Problem[]) => {
    recorded.length = 0;
    for (const problem of problems) reporter.report(about, problem);
    reporter.endCycle();
    return [...recorded];
  };
  return { clock, cycle, state };
}

test('records an Event once while a problem lasts, and again when it returns', () => {
  const { cycle } = setUp();
  expect(cycle(refusal, refusal)).toEqual(['AddressRefused']);
  expect(cycle(refusal)).toEqual([]);
  expect(cycle()).toEqual([]);
  expect(cycle(refusal)).toEqual(['AddressRefused']);
});

test('records it again after half an hour, before Kubernetes deletes the Event; notes only once', async () => {
  const { clock, cycle } = setUp();
  cycle(refusal, note);
  await clock.advance(29 * 60_000);
  expect(cycle(refusal, note)).toEqual([]);
  await clock.advance(60_000);
  expect(cycle(refusal, note)).toEqual(['AddressRefused']);
  expect(cycle(refusal, note)).toEqual([]);
});

test('records a dropped Event in the next cycle', () => {
  const { cycle, state } = setUp();
  state.isTaken = false;
  expect(cycle(refusal)).toEqual(['AddressRefused']);
  state.isTaken = true;
  expect(cycle(refusal)).toEqual(['AddressRefused']);
  expect(cycle(refusal)).toEqual([]);
});
