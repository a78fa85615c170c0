import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import { services } from '@causeway/kubernetes/objects/resources';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: ProviderLab;

beforeAll(async () => {
  lab = await ProviderLab.start();
});

afterAll(() => lab.close());

const dualStack = (name: string): Service => {
  const service = newService(name);
  const families = { ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] } as const;
  return { ...service, spec: { ...service.spec, ...families } };
};

const addressesOf = async (name: string) =>
  (await lab.read(name))?.status?.loadBalancer?.ingress?.map(({ ip }) => ip);

test('a Service is served on one family while the other is exhausted, and gets it later', async () => {
  lab.addresses = ['192.0.2.1-192.0.2.3', '2001:db8::1'];
  lab.startController();
  await lab.client.create(services, dualStack('first'));
  await until(async () => expect(await addressesOf('first')).toEqual(['192.0.2.1', '2001:db8::1']));
  await lab.create(dualStack('second'), '192.0.2.2');
  await lab.untilServed('second');
  await lab.untilItSays('second', 'One address family is missing: no IPv6 address is left');
  await lab.untilEvent('Warning FamilyExhausted: One address family is missing');
  expect(lab.served(0)).toContain('192.0.2.2:80/TCP default/second');
  // A restart keeps the address that the Service has.
  await lab.restartController();
  await lab.client.create(services, newService('third'));
  await until(async () => expect(await addressesOf('third')).toEqual(['192.0.2.3']));
  expect(await addressesOf('second')).toEqual(['192.0.2.2']);
  await lab.client.delete(services, named('first'));
  await until(async () =>
    expect(await addressesOf('second')).toEqual(['192.0.2.2', '2001:db8::1']),
  );
  await until(async () =>
    expect((await lab.read('second'))?.status?.conditions?.[0]?.message).toBe(
      'Served on 192.0.2.2, 2001:db8::1',
    ),
  );
});
