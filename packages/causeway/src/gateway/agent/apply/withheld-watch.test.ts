import { expect, test } from 'vitest';
import { SimulatedClock } from '@causeway/base/time/simulated-clock';
import { WithheldWatch } from './withheld-watch.ts';

test('raises an alarm for removals that stay withheld, and clears it when none is left', async () => {
  const clock = new SimulatedClock();
  const watch = new WithheldWatch(clock);
  expect(watch.alarm(25)).toBeUndefined();
  await clock.advance(9_000);
  expect(watch.alarm(25)).toBeUndefined();
  await clock.advance(1_000);
  expect(watch.alarm(24)).toContain('24 frontends are still served');
  expect(watch.alarm(0)).toBeUndefined();
  expect(watch.alarm(24)).toBeUndefined();
});
