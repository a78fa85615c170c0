import { describe, test } from 'vitest';
import { canRun, expectKept, seedOr } from '../connections/expect-kept.ts';

/** The short form of test/long/connections. */
describe.skipIf(!(await canRun()))('established connections, while their pods run', () => {
  test('continue in the layer Pod', () =>
    expectKept({
      layer: 'Pod',
      seed: seedOr(1),
      seconds: 55,
      failovers: 'anywhere',
      hasPins: true,
      running: 200,
      newPerSecond: 20,
      preStopSeconds: 5,
      stallMs: 15_000,
    }));
});
