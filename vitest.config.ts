import { defineConfig } from 'vitest/config';

/** Where each suite lives. `npm test` runs them all; the long suites have scripts of their own. */
const suites = {
  unit: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'web/**/*.test.ts', 'bench/**/*.test.ts'],
  contract: ['test/contract/**/*.test.ts'],
  kernel: ['test/kernel/**/*.test.ts'],
  cloud: ['test/cloud/**/*.test.ts'],
  cluster: ['test/cluster/**/*.test.ts'],
  browser: ['test/browser/**/*.test.ts'],
  product: ['test/product/**/*.test.ts'],
};

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    passWithNoTests: true,
    projects: Object.entries(suites).map(([name, include]) => ({
      extends: true as const,
      test: {
        name,
        include,
        testTimeout: name === 'unit' ? 15_000 : 120_000,
        hookTimeout: name === 'unit' ? 15_000 : 300_000,
      },
    })),
  },
});
