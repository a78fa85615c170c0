import type { Outcome } from './test-outcome.ts';
import type { Suite } from './suites.ts';

export interface GroupWork {
  /** Resolves when the programs and parts of the suite are available, or failed. */
  readonly ready: (suite: Suite) => Promise<void>;
  readonly run: (suite: Suite) => Promise<Outcome>;
}

/**
 * Runs the suites of each group one after another, and the groups in parallel: while the tests of one group
 * wait for timers and for other programs, those of the other compute.
 */
export async function runGroups(suites: readonly Suite[], work: GroupWork): Promise<Outcome> {
  const groups = Map.groupBy(suites, (suite) => suite.group);
  const outcomes = await Promise.all([...groups.values()].map((group) => runWorker(group, work)));
  return sumOf(outcomes.flat());
}

async function runWorker(group: readonly Suite[], { ready, run }: GroupWork): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const suite of group) {
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
