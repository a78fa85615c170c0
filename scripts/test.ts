// Runs every check and every test but the long suites. The last line is "N passed, N failed".
//
//   npm test                     everything
//   npm test -- packages/base/src/work      only the files whose path contains it, without checks and preparation
//   npm run test:long            the long suites instead
//   npm run test:cluster         the long suites on the real cluster instead

import path from 'node:path';
import { startVitest, type TestCase } from 'vitest/node';
import { prepareServices } from '../test/services/prepare.ts';
import { runProgram } from '../test/services/run-program.ts';

const words = process.argv.slice(2);
/** Of which long suites, if any: the names are those in vitest.config.ts. */
const long = words.find((word) => word === '--long' || word === '--cluster-long')?.slice(2);
const filters = words.filter((word) => word !== `--${long}`);
const root = path.dirname(import.meta.dirname);
interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
/** The suites whose outcome is not the project's alone: the kernel, and programs of others. */
const surroundings = new Set(['contract', 'kernel', 'cloud', 'cluster', 'browser', 'product']);
/** When more files fail, something is broken. */
const mostUnsteadyFiles = 3;

if (long !== undefined) process.env['CAUSEWAY_SUITES'] = long;
if (filters.length === 0 && long === undefined) await check();
// A long suite on a machine that has nothing yet would be skipped, and a user be told that nothing failed.
if (filters.length === 0 || long !== undefined) await prepare();
await runTests();
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
  const missing = await prepareServices();
  for (const line of missing) console.log(`missing: ${line}`);
  if (process.env['CI'] === 'true') counts.failed += missing.length;
}

/**
 * What fails on the real kernel or on real services is tried once more, by itself. Passing then
 * makes it unsteady, not right: it is named before the last line, and is a fault to mend.
 */
async function runTests(): Promise<void> {
  const first = await runVitest(filters);
  const again = first.failed.filter(({ suite }) => surroundings.has(suite));
  const isUnsteady = again.length === first.failed.length && again.length <= mostUnsteadyFiles;
  if (again.length === 0 || !isUnsteady) {
    add(first.counts);
    return;
  }
  const second = await runVitest(again.map(({ file }) => file));
  add(first.counts);
  for (const { file, tests } of again) {
    if (second.failed.some((still) => still.file === file)) continue;
    counts.failed -= tests.length;
    counts.passed += tests.length;
    for (const test of tests) console.log(`unsteady: ${file} > ${test}`);
  }
}

interface FailedFile {
  readonly file: string;
  readonly suite: string;
  /** What is counted as failed in it. */
  readonly tests: readonly string[];
}

async function runVitest(files: string[]): Promise<{ counts: Counts; failed: FailedFile[] }> {
  const vitest = await startVitest('test', files, { watch: false, root });
  const counted = { passed: 0, failed: 0, skipped: 0 };
  const failed: FailedFile[] = [];
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
    if (tests.length > 0) failed.push({ file, suite: module.project.name, tests });
  }
  // An error outside of any test belongs to no file that could be tried again.
  for (const _ of vitest.state.getUnhandledErrors()) {
    counted.failed += 1;
    failed.push({ file: '', suite: '', tests: ['an error outside of tests'] });
  }
  await vitest.close();
  return { counts: counted, failed };
}

function outcomeOf(test: TestCase): keyof Counts {
  const { state } = test.result();
  return state === 'pending' ? 'failed' : state;
}

function add(more: Counts): void {
  counts.passed += more.passed;
  counts.failed += more.failed;
  counts.skipped += more.skipped;
}
