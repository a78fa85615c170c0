import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

// A cloud with the default provider ovn, which is not in the settings.

let cloud: EmbeddedOpenStack;
let lab: OctaviaLab;
let stop: () => Promise<void>;
const named = (name: string) => ({ namespace: 'default', name });
const prefix = 'loadbalancer.openstack.org';

beforeEach(async () => {
  const providers = new Map([
    ['amphora', ''],
    ['ovn', ''],
  ]);
  ({ cloud, lab, stop } = await openEmbeddedLab({
    offerings: { providers, defaultProvider: 'ovn' },
  }));
});

afterEach(() => stop());

async function serve(name: string): Promise<void> {
  await lab.client.create(services, newService(name));
  await lab.client.create(endpointSlices, newSlice(name, ['10.10.1.1']));
  await untilServed(lab, name);
}

test('serves every port as the provider supports, and the next Service without a rejection', async () => {
  await lab.start();
  await serve('web');
  const served = { provider: 'ovn', listeners: [{ port: 80, members: [{}] }] };
  expect(await lab.balancers()).toMatchObject([served]);
  const algorithms = () => new Set(cloud.octavia.pools.all().map((pool) => pool.lb_algorithm));
  expect(algorithms()).toEqual(new Set(['SOURCE_IP_PORT']));
  const writes: string[] = [];
  const end = cloud.onRequest(({ method, path }) => {
    if (method !== 'GET' && path.includes('/lbaas/')) writes.push(`${method} ${path}`);
  });
  await serve('next');
  end();
  expect(writes).toHaveLength(1);
  expect(await lab.balancers()).toMatchObject([served, served]);
  expect(algorithms()).toEqual(new Set(['SOURCE_IP_PORT']));
});

test('keeps existing listeners when the setting is removed', async () => {
  await lab.start({ provider: 'ovn' });
  await serve('web');
  const before = await lab.balancers();
  await lab.stop();
  await lab.start();
  await serve('next');
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.1', '10.10.1.2']));
  await until(async () => {
    const web = (await lab.balancers()).find(({ name }) => name === 'default/web');
    expect(web?.listeners[0]?.members).toHaveLength(2);
  });
  const after = (await lab.balancers()).filter(({ name }) => name === 'default/web');
  expect(after.map(({ id, listeners }) => [id, listeners[0]?.id])).toEqual(
    before.map(({ id, listeners }) => [id, listeners[0]?.id]),
  );
});

test("keeps a listener that can't be changed, and updates its members", async () => {
  await lab.start();
  await serve('web');
  const [before] = await lab.balancers();
  const answer = { kind: 'answer', status: 501, text: 'not implemented' } as const;
  cloud.faults.add({ method: 'PUT', path: /listeners/, effect: answer });
  await lab.client.patchMerge(services, named('web'), {
    metadata: { annotations: { [`${prefix}/connection-limit`]: '7' } },
  });
  await until(() =>
    expect(lab.events.join('\n')).toContain(
      'OptionUnsupported: The listener of default/web:TCP:80',
    ),
  );
  await lab.client.update(endpointSlices, newSlice('web', ['10.10.1.1', '10.10.1.2']));
  await until(async () =>
    expect((await lab.balancers())[0]?.listeners[0]?.members).toHaveLength(2),
  );
  await untilServed(lab, 'web');
  expect((await lab.balancers())[0]?.listeners[0]?.id).toBe(before?.listeners[0]?.id);
});

test('opens nothing for unsupported source ranges', async () => {
  await lab.start();
  const change = { loadBalancerSourceRanges: ['192.0.2.0/24'] };
  await lab.client.create(services, newService('web', change));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(() => expect(lab.events.join()).toContain('SourceRangesUnsupported'));
  expect((await lab.balancers()).flatMap(({ listeners }) => listeners)).toEqual([]);
});
