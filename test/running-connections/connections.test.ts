import { describe, test } from 'vitest';
import { canRun, expectKept, seedOr } from '../connections/expect-kept.ts';

/** The short form of test/long/connections. Failovers come first while there are no pins. */
describe.skipIf(!(await canRun()))('established connections, while their pods run', () => {
  test('continue in the layer Pod', () =>
    expectKept({
      layer: 'Pod',
      seed: seedOr(1),
      seconds: 55,
      failovers: 'first',
      hasPins: false,
      running: 200,
      newPerSecond: 20,
      preStopSeconds: 5,
      stallMs: 15_000,
    }));
});
