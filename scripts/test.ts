// Runs every check and every suite that is not long. The last line is "N passed, N failed".
// scripts/suites.ts lists the suites.
//
//   npm test                            everything
//   npm test -- packages/base/src/work  only the files whose path contains it, without checks and preparation
//   npm run test:long                   the long suites instead
//   npm run test:cluster                the long suites on the real cluster instead

import path from 'node:path';
import { startVitest, type TestCase } from 'vitest/node';
import { prepareServices } from '../test/services/prepare.ts';
import { runProgram } from '../test/services/run-program.ts';
import { suitesOf } from './suites.ts';
import { type FailedFile, type Outcome, runAndRepeat } from './test-outcome.ts';

const root = path.dirname(import.meta.dirname);
const words = process.argv.slice(2);
const script = words.find((word) => word.startsWith('--suites='))?.slice('--suites='.length);
const filters = words.filter((word) => !word.startsWith('--suites='));
const isLong = script !== undefined;
const counts = { passed: 0, failed: 0, skipped: 0 };

if (isLong) process.env['CAUSEWAY_SUITES'] = script;
if (filters.length === 0 && !isLong) await check();
// Without preparation, a machine that has nothing yet would skip a long suite, and nothing would fail.
if (filters.length === 0 || isLong) await prepare();
add(await runAndRepeat({ filters, run: runVitest, print: console.log }));
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`);
if (counts.passed + counts.failed + counts.skipped === 0) {
  console.log(`no test file has ${filters.join(' or ')} in its path`);
  counts.failed += 1;
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);

async function check(): Promise<void> {
  const result = await runProgram(process.execPath, [path.join(root, 'scripts', 'check.ts')], {
    timeoutMs: 300_000,
  });
  process.stdout.write(result.stdout + result.stderr);
  if (result.code === 0) counts.passed += 1;
  else counts.failed += 1;
}

async function prepare(): Promise<void> {
  const missing = await prepareServices(suitesOf(script ?? 'test'));
  for (const line of missing) console.log(`missing: ${line}`);
  if (process.env['CI'] === 'true') counts.failed += missing.length;
}

async function runVitest(files: readonly string[]): Promise<Outcome> {
  const vitest = await startVitest('test', [...files], { watch: false, root });
  const counted = { passed: 0, failed: 0, skipped: 0 };
  const failedFiles: FailedFile[] = [];
  for (const module of vitest.state.getTestModules()) {
    const tests: string[] = [];
    for (const test of module.children.allTests()) {
      const outcome = outcomeOf(test);
      counted[outcome] += 1;
      if (outcome === 'failed') tests.push(test.fullName);
    }
    if (module.errors().length > 0) tests.push('the file itself');
    counted.failed += module.errors().length > 0 ? 1 : 0;
    const file = path.relative(root, module.moduleId);
    if (tests.length > 0) failedFiles.push({ file, tests });
  }
  for (const _ of vitest.state.getUnhandledErrors()) {
    counted.failed += 1;
    failedFiles.push({ file: '', tests: ['an error outside of tests'] });
  }
  await vitest.close();
  return { ...counted, failedFiles };
}

function outcomeOf(test: TestCase): 'passed' | 'failed' | 'skipped' {
  const { state } = test.result();
  return state === 'pending' ? 'failed' : state;
}

function add(outcome: Outcome): void {
  counts.passed += outcome.passed;
  counts.failed += outcome.failed;
  counts.skipped += outcome.skipped;
}
