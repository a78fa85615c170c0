import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { configMaps, services } from '@causeway/kubernetes/objects/resources';
import { recordAnnotation } from '../../services/record.ts';
import { addressBookName } from './address-book.ts';
import { portsAnnotation } from './annotations.ts';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

const book = { namespace: 'kube-system', name: addressBookName };
const entries = async () => (await lab.client.find(configMaps, book))?.data;

test('an address that a partitioned gateway may still announce is given to nobody after a restart', async () => {
  lab.startController();
  await lab.create(newService('web'), '192.0.2.1');
  await lab.untilServed('web');
  const [, partitioned] = lab.agents;
  partitioned.mode = 'fails';
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await lab.read('web')).toBeUndefined());
  await lab.restartController();
  await lab.create(newService('next'), '192.0.2.2');
  await lab.client.create(
    services,
    newService('heir', 81, { 'causeway.dev/address': '192.0.2.1' }),
  );
  await lab.untilItSays('heir', 'Waiting until no gateway announces 192.0.2.1');
  expect(lab.served(1)).toEqual(['192.0.2.1:80/TCP default/web']);
  partitioned.mode = 'works';
  await until(async () => expect(await lab.addressOf('heir')).toBe('192.0.2.1'));
});

test('the same for a Service that vanished while no controller looked', async () => {
  lab.startController();
  await lab.create(newService('web'), '192.0.2.1');
  await lab.untilServed('web');
  await lab.stopController();
  lab.agents[1].mode = 'fails';
  await lab.patch('web', { metadata: { finalizers: null } });
  await lab.client.delete(services, named('web'));
  lab.startController();
  await lab.create(newService('next'), '192.0.2.2');
});

test('the book has what is given out, and no more once it is free', async () => {
  lab.addresses = ['192.0.2.1', '2001:db8::1'];
  lab.startController();
  const service = newService('web');
  const both = {
    ipFamilies: ['IPv4', 'IPv6'] as const,
    ipFamilyPolicy: 'RequireDualStack' as const,
  };
  await lab.create({ ...service, spec: { ...service.spec, ...both } }, '192.0.2.1');
  expect(await entries()).toEqual({ version: '1', '192.0.2.1': 'given', '2001_db8__1': 'given' });
  await lab.untilServed('web');
  await lab.client.delete(services, named('web'));
  await until(async () => expect(await entries()).toEqual({ version: '1' }));
});

test('addresses from before there was a book are entered at the start', async () => {
  lab.startController();
  await lab.create(newService('web'), '192.0.2.1');
  await lab.untilServed('web');
  await lab.stopController();
  await lab.client.delete(configMaps, book);
  lab.startController();
  await until(async () => expect(await entries()).toEqual({ version: '1', '192.0.2.1': 'given' }));
  await lab.create(newService('next'), '192.0.2.2');
});

/** What a user can write while no controller looks: the annotations of another Service's place. */
async function seize(name: string, victim: string, changes: Record<string, string> = {}) {
  const ports = (await lab.read(victim))?.metadata?.annotations?.[portsAnnotation] ?? '';
  await lab.patch(name, { metadata: { annotations: { [portsAnnotation]: ports, ...changes } } });
}

test('an annotation that was written by hand while no controller ran takes nothing from anybody', async () => {
  lab.startController();
  await lab.create(newService('older'), '192.0.2.1');
  await lab.create(newService('victim'), '192.0.2.2');
  await lab.untilServed('older');
  await lab.untilServed('victim');
  await lab.stopController();
  await seize('older', 'victim');
  lab.startController();
  await lab.create(newService('next'), '192.0.2.3');
  await lab.untilServed('next');
  expect(await lab.addressOf('older')).toBe('192.0.2.1');
  expect(await lab.addressOf('victim')).toBe('192.0.2.2');
  expect(lab.served(0)).toContain('192.0.2.1:80/TCP default/older');
  expect(lab.served(0)).toContain('192.0.2.2:80/TCP default/victim');
});

test('a record that can not be read keeps what the status tells, and claims nothing else', async () => {
  lab.startController();
  await lab.create(newService('older'), '192.0.2.1');
  await lab.create(newService('victim'), '192.0.2.2');
  await lab.untilServed('older');
  await lab.untilServed('victim');
  await lab.stopController();
  await seize('older', 'victim', { [recordAnnotation]: 'spoilt' });
  lab.startController();
  await lab.create(newService('next'), '192.0.2.3');
  await lab.untilServed('next');
  expect(await lab.addressOf('victim')).toBe('192.0.2.2');
  expect(lab.served(0)).toContain('192.0.2.1:80/TCP default/older');
  expect(lab.served(0)).toContain('192.0.2.2:80/TCP default/victim');
});
