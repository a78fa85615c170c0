// Runs every check and every suite that is not long. The last line is "N passed, N failed".
// scripts/suites.ts lists the suites.
//
//   npm test                            everything
//   npm test -- packages/base/src/work  only the files whose path contains it, without checks and preparation
//   npm run test:long                   the long suites instead
//   npm run test:cluster                the long suites on the real cluster instead

import { fork } from 'node:child_process';
import path from 'node:path';
import { Preparation } from '../test/services/prepare.ts';
import { runProgram } from '../test/services/run-program.ts';
import { suitesOf, type Suite } from './suites.ts';
import { runGroups } from './test-groups.ts';
import { type Outcome, runAndRepeat } from './test-outcome.ts';
import type { SuitesOrder } from './test-suites.ts';

const root = path.dirname(import.meta.dirname);
const words = process.argv.slice(2);
const script = words.find((word) => word.startsWith('--suites='))?.slice('--suites='.length);
const given = words.filter((word) => !word.startsWith('--suites='));
const isLong = script !== undefined;
const suites = suitesOf(script ?? 'test');
const counts = { passed: 0, failed: 0, skipped: 0 };

if (isLong) process.env['CAUSEWAY_SUITES'] = script;
const run = (filters: readonly string[]) => {
  if (filters.length === 0) return runAll();
  return runFiles(filters);
};
const outcome = await runAndRepeat({ filters: given, run, print: console.log });
counts.passed += outcome.passed;
counts.failed += outcome.failed;
counts.skipped += outcome.skipped;
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.passed + counts.failed + counts.skipped === 0) {
  console.log(`no test file has ${given.join(' or ')} in its path`);
  counts.failed += 1;
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);

async function runFiles(filters: readonly string[]): Promise<Outcome> {
  // Without preparation, a fresh machine would skip a long suite, and nothing would fail.
  if (isLong && filters === given) await reportMissing(new Preparation(suites));
  return runSuites({ suites: [], filters, isNice: false });
}

async function runAll(): Promise<Outcome> {
  const preparation = new Preparation(suites);
  const reported = reportMissing(preparation);
  const checked = isLong ? undefined : check();
  const ready = async (suite: Suite) => {
    // The check uses both cores.
    if (suite.group === 'computing') await checked;
    await preparation.ready(suite);
  };
  const all = await runGroups(suites, { ready, run: runSuite });
  await reported;
  return all;
}

async function runSuite({ name, group }: Suite): Promise<Outcome> {
  const started = performance.now();
  const outcomeOfSuite = await runSuites({
    suites: [name],
    filters: [],
    isNice: group === 'computing',
  });
  const { passed, failed } = outcomeOfSuite;
  const minutes = ((performance.now() - started) / 60_000).toFixed(1);
  console.log(`suite ${name}: ${passed} passed, ${failed} failed in ${minutes} minutes`);
  return outcomeOfSuite;
}

/** In its own process: two groups can't share one instance of the test runner. */
function runSuites(order: SuitesOrder): Promise<Outcome> {
  const program = path.join(import.meta.dirname, 'test-suites.ts');
  const child = fork(program, [JSON.stringify(order)]);
  return new Promise((resolve) => {
    let said: Outcome | undefined;
    child.on('message', (message) => (said = message as Outcome));
    child.on('exit', (code, signal) => {
      const reason = `the test runner of ${order.suites.join()} ended with ${code ?? signal}`;
      const ended = { file: '', tests: [reason] };
      resolve(said ?? { passed: 0, failed: 1, skipped: 0, failedFiles: [ended] });
    });
  });
}

async function check(): Promise<void> {
  const result = await runProgram(process.execPath, [path.join(root, 'scripts', 'check.ts')], {
    timeoutMs: 900_000,
  });
  process.stdout.write(result.stdout + result.stderr);
  if (result.code === 0) counts.passed += 1;
  else counts.failed += 1;
}

async function reportMissing(preparation: Preparation): Promise<void> {
  const missing = await preparation.finished;
  for (const line of missing) console.log(`missing: ${line}`);
  if (process.env['CI'] === 'true') counts.failed += missing.length;
}
