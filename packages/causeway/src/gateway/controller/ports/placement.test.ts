import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { namespaces, services } from '@causeway/kubernetes/objects/resources';
import { legacyManagedAnnotation, legacyPortAnnotation } from './annotations.ts';
import { named, newService, ProviderLab, until } from '../simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

const asking = (address: string) => ({ 'causeway.dev/address': address });
const sharing = { 'causeway.dev/sharing-key': 'edge' };

test("keeps the placement of a Service if its new spec can't be satisfied", async () => {
  lab.addresses = ['192.0.2.1'];
  lab.startController();
  await lab.create(newService('a', 80), '192.0.2.1');
  await lab.create(newService('b', 81), '192.0.2.1');
  await lab.untilServed('b');
  const ports = [80, 81].map((port) => ({ name: `p${port}`, port }));
  await lab.patch('b', { spec: { ports } });
  await lab.untilEvent('SyncLoadBalancerFailed: no IPv4 address is left');
  await lab.client.create(services, newService('c', 81));
  await lab.untilItSays('c', 'no IPv4 address is left');
  const served = ['192.0.2.1:80/TCP default/a', '192.0.2.1:81/TCP default/b'];
  for (const gateway of [0, 1]) expect(lab.served(gateway).sort()).toEqual(served);
  // A restart keeps the same state and removes nothing.
  for (const agent of lab.agents) agent.pushes.length = 0;
  await lab.restartController();
  for (const agent of lab.agents) await until(() => expect(agent.pushes).not.toEqual([]));
  for (const gateway of [0, 1]) expect(lab.served(gateway).sort()).toEqual(served);
  expect(await lab.addressOf('b')).toBe('192.0.2.1');
  // The Service gets the requested ports as soon as they are free.
  await lab.client.delete(services, named('a'));
  await until(() =>
    expect(lab.served(0).sort()).toEqual([
      '192.0.2.1:80/TCP default/b',
      '192.0.2.1:81/TCP default/b',
    ]),
  );
});

test.each([
  ['an invalid address', { metadata: { annotations: asking('nonsense') } }],
  ['an address of an unsupported family', { metadata: { annotations: asking('2001:db8::9') } }],
])('keeps serving a Service that requests %s while no controller runs', async (_what, change) => {
  lab.startController();
  await lab.create(newService('web'), '192.0.2.1');
  await lab.untilServed('web');
  await lab.stopController();
  await lab.patch('web', change);
  for (const agent of lab.agents) agent.pushes.length = 0;
  lab.startController();
  await lab.create(newService('next'), '192.0.2.2');
  await until(async () =>
    expect((await lab.read('web'))?.status?.conditions?.[0]?.status).toBe('False'),
  );
  expect(await lab.addressOf('web')).toBe('192.0.2.1');
  for (const gateway of [0, 1]) {
    expect(lab.served(gateway)).toContain('192.0.2.1:80/TCP default/web');
  }
});

test('ignores a Service without a class if the gateways are not the default, regardless of annotations', async () => {
  lab.defaultProvider = undefined;
  const old = { [legacyManagedAnnotation]: 'true', [legacyPortAnnotation]: '192.0.2.1' };
  await lab.client.create(services, newService('foreign', 80, old));
  lab.startController();
  const mine = newService('mine');
  const spec = { ...mine.spec, loadBalancerClass: 'causeway.dev/gateway' };
  await lab.create({ ...mine, spec }, '192.0.2.1');
  await lab.untilServed('mine');
  for (const { pushes } of lab.agents) {
    for (const { frontends } of pushes) {
      expect([...frontends.values()].map(({ service }) => service)).not.toContain(
        'default/foreign',
      );
    }
  }
  expect((await lab.read('foreign'))?.metadata?.annotations).toEqual(old);
});

test('assigns a requested address when its holder releases it', async () => {
  lab.startController();
  await lab.create(newService('first', 80, asking('192.0.2.2')), '192.0.2.2');
  await lab.client.create(services, newService('second', 80, asking('192.0.2.2')));
  await lab.untilEvent('AddressTaken: 192.0.2.2 is taken by default/first');
  await lab.patch('first', { spec: { ports: [{ port: 81 }] } });
  await until(async () => expect(await lab.addressOf('second')).toBe('192.0.2.2'));
});

test('moves a Service that drops its sharing key, and admits one that adds it', async () => {
  await lab.client.create(namespaces, { metadata: { name: 'other' } });
  lab.startController();
  await lab.create(newService('web', 80, sharing), '192.0.2.1');
  const metadata = { namespace: 'other', name: 'mail', annotations: sharing };
  await lab.client.create(services, { ...newService('mail', 25), metadata });
  await until(() => expect(lab.served(0)).toContain('192.0.2.1:25/TCP other/mail'));
  await lab.patch('web', { metadata: { annotations: { 'causeway.dev/sharing-key': null } } });
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.2'));
  await lab.untilEvent('because its sharing key has changed');
  // Without the key, the Service can't even request the address.
  await lab.patch('web', { metadata: { annotations: asking('192.0.2.1') } });
  await lab.untilEvent('AddressTaken: 192.0.2.1 belongs to other/mail');
  await lab.patch('web', { metadata: { annotations: sharing } });
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.1'));
});
