import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { configMaps, services } from '@causeway/kubernetes/objects/resources';
import { recordAnnotation } from '../../services/record.ts';
import { addressRecordsName } from './ports/address-records.ts';
import { portsAnnotation } from './ports/annotations.ts';
import { named, newService, ProviderLab, until } from './simulated-provider.testing.ts';

vi.setConfig({ testTimeout: 120_000 });

let lab: ProviderLab;

beforeEach(async () => {
  lab = await ProviderLab.start();
});

afterEach(() => lab.close());

const records = { namespace: 'kube-system', name: addressRecordsName };
const entries = async () => (await lab.client.find(configMaps, records))?.data;

test('does not reuse an address after a restart while a partitioned gateway may announce it', async () => {
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

test('does the same for a Service that was deleted while no controller ran', async () => {
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

test('records assigned addresses, and removes them when they are free', async () => {
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

test('records addresses at the start that were assigned before records existed', async () => {
  lab.startController();
  await lab.create(newService('web'), '192.0.2.1');
  await lab.untilServed('web');
  await lab.stopController();
  await lab.client.delete(configMaps, records);
  lab.startController();
  await until(async () => expect(await entries()).toEqual({ version: '1', '192.0.2.1': 'given' }));
  await lab.create(newService('next'), '192.0.2.2');
});

/** Copies the placement annotation of another Service, as a user can while no controller runs. */
async function seize(name: string, victim: string, changes: Record<string, string> = {}) {
  const ports = (await lab.read(victim))?.metadata?.annotations?.[portsAnnotation] ?? '';
  await lab.patch(name, { metadata: { annotations: { [portsAnnotation]: ports, ...changes } } });
}

test('takes no address from a Service by an annotation that was written by hand', async () => {
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

test('keeps the address in the status for an unreadable record, and requests nothing else', async () => {
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
