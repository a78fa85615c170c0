import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEmbeddedLab } from '../../../../test/octavia/embedded-lab.ts';
import { newService, newSlice, type OctaviaLab } from '../../../../test/octavia/lab.ts';
import { until, untilServed } from '../../../../test/octavia/until.ts';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import type { EmbeddedOpenStack } from '@causeway/fake-openstack/cloud';

// A cloud whose default is ovn, and nobody has said so.

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

test('every port is served as that provider can, the next Service without a refusal', async () => {
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

test('listeners that are there stay when the setting goes', async () => {
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

test('a listener that can not be changed stays as it is, and its members follow', async () => {
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

test('sources that it can not restrict open nothing', async () => {
  await lab.start();
  const change = { loadBalancerSourceRanges: ['192.0.2.0/24'] };
  await lab.client.create(services, newService('web', change));
  await lab.client.create(endpointSlices, newSlice('web', ['10.10.1.1']));
  await until(() => expect(lab.events.join()).toContain('SourceRangesUnsupported'));
  expect((await lab.balancers()).flatMap(({ listeners }) => listeners)).toEqual([]);
});
