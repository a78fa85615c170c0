import { describe, test } from 'vitest';
import { canRun, expectKept, seedOr } from '../../connections/expect-kept.ts';

/** Minutes of events in each layer: half an hour in all, unless CAUSEWAY_MINUTES says otherwise. */
const minutes = Number(process.env['CAUSEWAY_MINUTES'] ?? 10);

describe.skipIf(!(await canRun()))('established connections, while their pods run', () => {
  test.each(['Pod', 'NodePort', 'ClusterIP'] as const)('continue in the layer %s', (layer) =>
    expectKept({
      layer,
      seed: seedOr(1),
      seconds: minutes * 60,
      failovers: 'anywhere',
      hasPins: true,
      running: 2_000,
      newPerSecond: 100,
      preStopSeconds: 20,
      stallMs: 30_000,
    }),
  );
});
