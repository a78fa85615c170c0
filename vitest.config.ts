import { defineConfig } from 'vitest/config';
import { suitesOf, type Suite } from './scripts/suites.ts';

const minuteMs = 60_000;

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
