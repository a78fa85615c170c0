import { describe, test } from 'vitest';
import { canRun, expectKept, seedOr } from '../../connections/expect-kept.ts';

/** The short form of test/long/connections. Failovers come first while there are no pins. */
const common = {
  seed: seedOr(1),
  failovers: 'first',
  running: 200,
  newPerSecond: 20,
  preStopSeconds: 5,
  stallMs: 15_000,
} as const;

describe.skipIf(!(await canRun()))('established connections, while their pods run', () => {
  test.each([
    ['Pod', 50],
    ['NodePort', 35],
    ['ClusterIP', 20],
  ] as const)('continue in the layer %s', (layer, seconds) =>
    expectKept({ ...common, layer, seconds }),
  );
});
