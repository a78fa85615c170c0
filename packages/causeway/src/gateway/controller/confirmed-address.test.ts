import { afterEach, beforeEach, expect, test } from 'vitest';
import { services } from '@causeway/kubernetes/objects/resources';
import { newService, ProviderLab, until } from './simulated-provider.testing.ts';

let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

test('the status has an address when gateways confirm the Service, and not before', async () => {
  for (const agent of lab.agents) agent.mode = 'fails';
  lab.startController();
  await lab.client.create(services, newService('web'));
  await until(async () => {
    const [condition] = (await lab.read('web'))?.status?.conditions ?? [];
    expect(condition).toMatchObject({ status: 'False', reason: 'Pending' });
    expect(condition?.message).toContain('No gateway can be reached');
  });
  expect(await lab.addressOf('web')).toBeUndefined();
  for (const agent of lab.agents) agent.mode = 'works';
  await lab.untilServed('web');
  expect(await lab.addressOf('web')).toBe('192.0.2.1');
  // An address in the status stays when the gateways stop to answer.
  for (const agent of lab.agents) agent.mode = 'fails';
  await lab.client.create(services, newService('second', 81));
  await until(async () =>
    expect((await lab.read('second'))?.status?.conditions?.[0]?.status).toBe('False'),
  );
  expect(await lab.addressOf('web')).toBe('192.0.2.1');
});
