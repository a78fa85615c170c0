import { defineConfig } from 'vitest/config';

/** Where each suite lives. `npm test` runs them all; the long suites have scripts of their own. */
const suites = {
  unit: [
    ...['packages/*/src', 'scripts', 'bench'].map((folder) => `${folder}/**/*.test.ts`),
    'test/upstream/*.test.ts',
    'test/chaos/*.test.ts',
    'test/fuzz/*.test.ts',
    'test/upgrade/*.test.ts',
  ],
  simulation: ['test/simulation/**/*.test.ts'],
  contract: ['test/contract/**/*.test.ts'],
  kernel: ['test/kernel/**/*.test.ts'],
  cloud: ['test/cloud/**/*.test.ts'],
  cluster: ['test/cluster/**/*.test.ts'],
  browser: ['test/browser/**/*.test.ts'],
  product: ['test/product/**/*.test.ts'],
};

/** Not part of `npm test`: minutes each, by `npm run test:long` and `npm run test:cluster`. */
const longSuites = {
  long: ['test/long/**/*.test.ts'],
  'cluster-long': ['test/cluster-long/**/*.test.ts'],
};

/**
 * Suites run one after another, the fast ones first. Those that own kernel state or many processes
 * run file by file, so that what they observe is their own doing.
 */
const oneFileAtATime = new Set(['kernel', 'cloud', 'cluster', 'product', 'browser']);
const isLong = (name: string): name is keyof typeof longSuites => Object.hasOwn(longSuites, name);
const wanted = process.env['CAUSEWAY_SUITES'] ?? '';
const chosen = isLong(wanted) ? { [wanted]: longSuites[wanted] } : suites;

export default defineConfig({
  test: {
    pool: 'forks',
    passWithNoTests: true,
    setupFiles: ['test/repeatable.ts'],
    expect: { poll: { timeout: 120_000 } },
    projects: Object.entries(chosen).map(([name, include], order) => ({
      extends: true as const,
      test: {
        name,
        include,
        sequence: { groupOrder: order },
        maxWorkers: oneFileAtATime.has(name) || isLong(name) ? 1 : 2,
        // Against tests that hang; a machine that is busy is not a fault.
        testTimeout: name === 'unit' ? 300_000 : isLong(name) ? 3_600_000 : 900_000,
        hookTimeout: name === 'unit' ? 300_000 : 900_000,
      },
    })),
  },
});
