// Runs the test files of suites in its own process, and sends the outcome to scripts/test.ts.
//
// node scripts/test-suites.ts '{"suites":["kernel"],"filters":[]}'

import os from 'node:os';
import path from 'node:path';
import { startVitest, type TestCase } from 'vitest/node';
import type { FailedFile, Outcome } from './test-outcome.ts';

/** The order from scripts/test.ts. */
export interface SuitesOrder {
  /** Names of suites. Empty means all suites of vitest.config.ts. */
  readonly suites: readonly string[];
  /** Parts of paths. Empty means all files. */
  readonly filters: readonly string[];
  /** Whether processes with timers have priority on busy processors. */
  readonly isNice: boolean;
}

const root = path.dirname(import.meta.dirname);
const order = JSON.parse(process.argv[2] ?? '') as SuitesOrder;
if (order.isNice) os.setPriority(os.constants.priority.PRIORITY_BELOW_NORMAL);
process.on('disconnect', () => process.exit(1));
const outcome = await runVitest(order);
process.send?.(outcome, () => process.exit(0));

async function runVitest({ suites, filters }: SuitesOrder): Promise<Outcome> {
  const project = suites.length === 0 ? {} : { project: [...suites] };
  const vitest = await startVitest('test', [...filters], { watch: false, root, ...project });
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failedFiles: FailedFile[] = [];
  for (const module of vitest.state.getTestModules()) {
    const tests: string[] = [];
    for (const test of module.children.allTests()) {
      const state = stateOf(test);
      counts[state] += 1;
      if (state === 'failed') tests.push(test.fullName);
    }
    if (module.errors().length > 0) tests.push('the file itself');
    counts.failed += module.errors().length > 0 ? 1 : 0;
    const file = path.relative(root, module.moduleId);
    if (tests.length > 0) failedFiles.push({ file, tests });
  }
  for (const _ of vitest.state.getUnhandledErrors()) {
    counts.failed += 1;
    failedFiles.push({ file: '', tests: ['an error outside of tests'] });
  }
  await vitest.close();
  return { ...counts, failedFiles };
}

function stateOf(test: TestCase): 'passed' | 'failed' | 'skipped' {
  const { state } = test.result();
  return state === 'pending' ? 'failed' : state;
}
