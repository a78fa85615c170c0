// Runs every check and every test but the long suites. The last line is "N passed, N failed".
//
//   npm test                     everything
//   npm test -- src/runtime      only the files whose path contains it, without checks and preparation

import path from 'node:path';
import { startVitest, type TestCase } from 'vitest/node';
import { prepareServices } from '../test/services/prepare.ts';
import { runProgram } from '../test/services/run-program.ts';

const filters = process.argv.slice(2);
const root = path.dirname(import.meta.dirname);
const counts = { passed: 0, failed: 0, skipped: 0 };

if (filters.length === 0) {
  await check();
  await prepare();
}
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

async function runTests(): Promise<void> {
  const vitest = await startVitest('test', filters, { watch: false, root });
  for (const module of vitest.state.getTestModules()) {
    for (const test of module.children.allTests()) count(test);
    if (module.errors().length > 0) counts.failed += 1;
  }
  counts.failed += vitest.state.getUnhandledErrors().length;
  await vitest.close();
}

function count(test: TestCase): void {
  const { state } = test.result();
  switch (state) {
    case 'passed':
    case 'failed':
    case 'skipped':
      counts[state] += 1;
      break;
    case 'pending':
      counts.failed += 1;
      break;
  }
}
