import type { Outcome } from './test-outcome.ts';
import type { Suite } from './suites.ts';

export interface LaneWork {
  /** Resolves when the programs and parts of the suite are there, or can't be had. */
  readonly ready: (suite: Suite) => Promise<void>;
  readonly run: (suite: Suite) => Promise<Outcome>;
}

/**
 * Runs the suites of each lane one after another, and the lanes at the same time: while the tests of
 * one lane wait for timers and for other programs, those of the other compute.
 */
export async function runLanes(suites: readonly Suite[], work: LaneWork): Promise<Outcome> {
  const lanes = Map.groupBy(suites, (suite) => suite.lane);
  const outcomes = await Promise.all([...lanes.values()].map((lane) => runWorker(lane, work)));
  return sumOf(outcomes.flat());
}

async function runWorker(lane: readonly Suite[], { ready, run }: LaneWork): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const suite of lane) {
    await ready(suite);
    outcomes.push(await run(suite));
  }
  return outcomes;
}

function sumOf(outcomes: readonly Outcome[]): Outcome {
  const sum = (of: (outcome: Outcome) => number) => outcomes.map(of).reduce((a, b) => a + b, 0);
  return {
    passed: sum((outcome) => outcome.passed),
    failed: sum((outcome) => outcome.failed),
    skipped: sum((outcome) => outcome.skipped),
    failedFiles: outcomes.flatMap(({ failedFiles }) => failedFiles),
  };
}
