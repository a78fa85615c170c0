import { afterEach, beforeEach, expect, test } from 'vitest';
import { services } from '@causeway/kubernetes/objects/resources';
import { newService, ProviderLab, until } from './simulated-provider.testing.ts';

let lab: ProviderLab;
beforeEach(async () => {
  lab = await ProviderLab.start();
});
afterEach(() => lab.close());

test('a Service counts as served only if the active gateway serves it', async () => {
  const [active, standby] = lab.agents;
  active.role = 'active';
  lab.startController();
  await lab.client.create(services, newService('web'));
  await lab.untilServed('web');
  active.isFrozen = true;
  await lab.client.create(services, newService('later', 81));
  await lab.untilItSays('later', 'The active gateway g1 does not serve the current state');
  expect((await lab.read('later'))?.status?.conditions?.[0]?.status).toBe('False');
  expect(standby.holds.size).toBe(2);
  active.isFrozen = false;
  await lab.untilServed('later');
});

test('Services are no longer served when a gateway with an older state becomes active', async () => {
  const [first, second] = lab.agents;
  first.role = 'active';
  second.isFrozen = true;
  lab.startController();
  await lab.client.create(services, newService('web'));
  await lab.untilServed('web');
  first.role = 'standby';
  first.sendStatus();
  second.role = 'active';
  second.sendStatus();
  await lab.untilItSays('web', 'The active gateway g2 does not serve the current state');
  second.isFrozen = false;
  await lab.untilServed('web');
  await until(() => expect(second.holds.size).toBe(1));
});
