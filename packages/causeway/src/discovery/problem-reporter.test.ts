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
  const told: string[] = [];
  const state = { isTaken: true };
  const tell = (_: unknown, { reason }: { readonly reason: string }) => {
    told.push(reason);
    return state.isTaken;
  };
  const reporter = new ProblemReporter(tell, clock, discardLog);
  /** What one cycle tells. */
  const cycle = (...problems: Problem[]) => {
    told.length = 0;
    for (const problem of problems) reporter.report(about, problem);
    reporter.endCycle();
    return [...told];
  };
  return { clock, cycle, state };
}

test('once while it lasts, and anew when it comes back', () => {
  const { cycle } = setUp();
  expect(cycle(refusal, refusal)).toEqual(['AddressRefused']);
  expect(cycle(refusal)).toEqual([]);
  expect(cycle()).toEqual([]);
  expect(cycle(refusal)).toEqual(['AddressRefused']);
});

test('again after half an hour, before the Event is forgotten; notes are not', async () => {
  const { clock, cycle } = setUp();
  cycle(refusal, note);
  await clock.advance(29 * 60_000);
  expect(cycle(refusal, note)).toEqual([]);
  await clock.advance(60_000);
  expect(cycle(refusal, note)).toEqual(['AddressRefused']);
  expect(cycle(refusal, note)).toEqual([]);
});

test('what was dropped is told with the next cycle', () => {
  const { cycle, state } = setUp();
  state.isTaken = false;
  expect(cycle(refusal)).toEqual(['AddressRefused']);
  state.isTaken = true;
  expect(cycle(refusal)).toEqual(['AddressRefused']);
  expect(cycle(refusal)).toEqual([]);
});
