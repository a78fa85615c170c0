import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { suitesOf, type Suite } from './scripts/suites.ts';

const minuteMs = 60_000;

// Tests start hundreds of processes of the product. With this cache Node compiles each source once, not
// in each process: a start needs 0.6 s of processor time in place of 1.4 s.
process.env['NODE_COMPILE_CACHE'] ??= path.join(
  import.meta.dirname,
  'node_modules/.cache/node-compile-cache',
);

/** `npm test` leaves the variable out; the scripts of the long suites set it. */
const script = process.env['CAUSEWAY_SUITES'] ?? 'test';

function project(suite: Suite, order: number) {
  return {
    extends: true as const,
    test: {
      name: suite.name,
      include: suite.folders.map((folder) => `${folder}/**/*.test.ts`),
      sequence: { groupOrder: order },
      maxWorkers: suite.filesAtOnce,
      testTimeout: suite.timeoutMinutes * minuteMs,
      hookTimeout: Math.min(suite.timeoutMinutes, 15) * minuteMs,
    },
  };
}

export default defineConfig({
  test: {
    pool: 'forks',
    passWithNoTests: true,
    setupFiles: ['test/repeatable.ts'],
    expect: { poll: { timeout: 120_000 } },
    projects: suitesOf(script).map(project),
  },
});
