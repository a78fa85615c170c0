import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { namespaces, services } from '@causeway/kubernetes/objects/resources';
import { legacyManagedAnnotation, legacyPortAnnotation } from './annotations.ts';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

const asking = (address: string) => ({ 'causeway.dev/address': address });
const sharing = { 'causeway.dev/sharing-key': 'edge' };

test('who asks for more than can be had keeps its place, and nobody else gets it', async () => {
  lab.addresses = ['192.0.2.1'];
  lab.startController();
  await lab.create(newService('a', 80), '192.0.2.1');
  await lab.create(newService('b', 81), '192.0.2.1');
  await lab.untilServed('b');
  const ports = [80, 81].map((port) => ({ name: `p${port}`, port }));
  await lab.patch('b', { spec: { ports } });
  await lab.untilRecorded('SyncLoadBalancerFailed: no IPv4 address is left');
  await lab.client.create(services, newService('c', 81));
  await lab.untilItSays('c', 'no IPv4 address is left');
  const served = ['192.0.2.1:80/TCP default/a', '192.0.2.1:81/TCP default/b'];
  for (const gateway of [0, 1]) expect(lab.served(gateway).sort()).toEqual(served);
  // A restart finds the same, and takes nothing away meanwhile.
  for (const agent of lab.agents) agent.pushes.length = 0;
  await lab.restartController();
  for (const agent of lab.agents) await until(() => expect(agent.pushes).not.toEqual([]));
  for (const gateway of [0, 1]) expect(lab.served(gateway).sort()).toEqual(served);
  expect(await lab.addressOf('b')).toBe('192.0.2.1');
  // It has what it asks for as soon as that can be had.
  await lab.client.delete(services, named('a'));
  await until(() =>
    expect(lab.served(0).sort()).toEqual([
      '192.0.2.1:80/TCP default/b',
      '192.0.2.1:81/TCP default/b',
    ]),
  );
});

test.each([
  ['an address that is none', { metadata: { annotations: asking('nonsense') } }],
  ['a family that the gateways have not', { metadata: { annotations: asking('2001:db8::9') } }],
])('who asks for %s while nobody looks is served as before', async (_what, change) => {
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

test('a Service without a class is nothing to gateways that are not the default, whatever it carries', async () => {
  lab.defaultProvider = undefined;
  const old = { [legacyManagedAnnotation]: 'true', [legacyPortAnnotation]: '192.0.2.1' };
  await lab.client.create(services, newService('foreign', 80, old));
  lab.startController();
  const mine = newService('mine');
  const spec = { ...mine.spec, loadBalancerClass: 'causeway.dev/gateway' };
  await lab.create({ ...mine, spec }, '192.0.2.1');
  await lab.untilServed('mine');
  for (const { pushes } of lab.agents) {
    for (const { endpoints } of pushes) {
      expect([...endpoints.values()].map(({ service }) => service)).not.toContain(
        'default/foreign',
      );
    }
  }
  expect((await lab.read('foreign'))?.metadata?.annotations).toEqual(old);
});

test('a requested address is had when the one who has it gives it up', async () => {
  lab.startController();
  await lab.create(newService('first', 80, asking('192.0.2.2')), '192.0.2.2');
  await lab.client.create(services, newService('second', 80, asking('192.0.2.2')));
  await lab.untilRecorded('AddressTaken: 192.0.2.2 is in use by default/first');
  await lab.patch('first', { spec: { ports: [{ port: 81 }] } });
  await until(async () => expect(await lab.addressOf('second')).toBe('192.0.2.2'));
});

test('who takes its sharing key away moves, and who names it gets in', async () => {
  await lab.client.create(namespaces, { metadata: { name: 'other' } });
  lab.startController();
  await lab.create(newService('web', 80, sharing), '192.0.2.1');
  const metadata = { namespace: 'other', name: 'mail', annotations: sharing };
  await lab.client.create(services, { ...newService('mail', 25), metadata });
  await until(() => expect(lab.served(0)).toContain('192.0.2.1:25/TCP other/mail'));
  await lab.patch('web', { metadata: { annotations: { 'causeway.dev/sharing-key': null } } });
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.2'));
  await lab.untilRecorded('Remapped: The Service moved to 192.0.2.2, because the sharing key');
  // It may not even ask for the address by name, until it has the key again.
  await lab.patch('web', { metadata: { annotations: asking('192.0.2.1') } });
  await lab.untilRecorded('AddressTaken: 192.0.2.1 belongs to other/mail');
  await lab.patch('web', { metadata: { annotations: sharing } });
  await until(async () => expect(await lab.addressOf('web')).toBe('192.0.2.1'));
});
