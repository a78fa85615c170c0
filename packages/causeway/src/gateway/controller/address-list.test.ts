import { afterEach, beforeEach, expect, test } from 'vitest';
import { services } from '@causeway/kubernetes/objects/resources';
import { newService, ProviderLab, until } from './simulated-provider.testing.ts';

let lab: ProviderLab;
beforeEach(async () => {
  lab = await ProviderLab.start();
});
afterEach(() => lab.close());

const release = { metadata: { annotations: { 'causeway.dev/release-address': 'true' } } };

async function startWithTwo(): Promise<void> {
  lab.addresses = ['192.0.2.1-192.0.2.2'];
  lab.startController();
  await lab.create(newService('one', 80), '192.0.2.1');
  await lab.create(newService('two', 80), '192.0.2.2');
  await lab.untilServed('two');
}

test('a range that drops out of the list moves no Service, and is reported with their names', async () => {
  await startWithTwo();
  lab.addresses = ['203.0.113.1-203.0.113.9'];
  await lab.restartController();
  await until(async () =>
    expect(await lab.guarded()).toContain('default/one 192.0.2.1, default/two 192.0.2.2'),
  );
  await lab.untilEvent('Warning AddressesKept: 2 Services keep addresses');
  await lab.create(newService('three', 81), '203.0.113.1');
  await lab.untilServed('three');
  expect([await lab.addressOf('one'), await lab.addressOf('two')]).toEqual([
    '192.0.2.1',
    '192.0.2.2',
  ]);
  expect(lab.served(0)).toEqual(
    expect.arrayContaining([
      '192.0.2.1:80/TCP default/one',
      '192.0.2.2:80/TCP default/two',
      '203.0.113.1:81/TCP default/three',
    ]),
  );
  lab.addresses = ['192.0.2.1-192.0.2.2', '203.0.113.1'];
  await lab.restartController();
  await lab.create(newService('four', 82), '192.0.2.1');
  await until(async () => expect(await lab.guarded()).toBe(''));
  expect(await lab.addressOf('one')).toBe('192.0.2.1');
});

test('a retiring range keeps its Services without a report, and a Service leaves it on request', async () => {
  await startWithTwo();
  lab.addresses = ['192.0.2.1-192.0.2.2', '203.0.113.1'];
  lab.retiring = ['192.0.2.1-192.0.2.2'];
  await lab.restartController();
  await lab.create(newService('three', 81), '203.0.113.1');
  expect(lab.events.join()).not.toContain('AddressesKept');
  expect(await lab.addressOf('one')).toBe('192.0.2.1');
  await lab.patch('one', release);
  await until(async () => expect(await lab.addressOf('one')).toBe('203.0.113.1'));
  await lab.untilEvent('Remapped: The Service moved to 203.0.113.1, as requested');
  await until(() => expect(lab.served(0)).not.toContain('192.0.2.1:80/TCP default/one'));
  expect(await lab.addressOf('two')).toBe('192.0.2.2');
});

test('a deleted Service resolves the report', async () => {
  await startWithTwo();
  lab.addresses = ['192.0.2.2'];
  await lab.restartController();
  await lab.untilEvent('Warning AddressesKept: 1 Services keep addresses');
  await lab.client.delete(services, { namespace: 'default', name: 'one' });
  await lab.untilEvent('Normal GuardEnded: The guard for addresses');
});
