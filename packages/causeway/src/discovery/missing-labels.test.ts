import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
});
afterEach(() => world.stop());

async function label(resource: Resource, object: KubeObject | undefined, value: string | null) {
  const { namespace = '', name = '' } = object?.metadata ?? {};
  const change = { metadata: { labels: { 'causeway.dev/backend': value } } };
  await world.client.patchMerge(resource, { namespace, name }, change);
}

test.each([null, 'west'])('deletes an unneeded slice with the label %j', async (value) => {
  await world.once();
  const [slice] = await world.slices();
  await label(endpointSlices, slice, value);
  for (const row of world.cloud.octavia.members.all()) {
    Object.assign(row, { protocol_port: 9090 });
  }
  expect(await world.once({}, true)).toMatchObject({ failures: 0 });
  const ports = (await world.slices()).map((one) => one.ports?.[0]?.port);
  expect(ports).toEqual([9090]);
  expect(await world.once()).toMatchObject({ written: 0, removed: 0 });
});

test('deletes the Service of a load balancer that was deleted in the meantime', async () => {
  const { id } = world.addLoadBalancer('demo', 'gone', '10.10.0.6');
  await world.once();
  const all = await world.services();
  await label(
    services,
    all.find(({ metadata }) => metadata?.name?.endsWith(id)),
    null,
  );
  world.removeLoadBalancer(id);
  await world.once({}, true);
  expect(await world.services()).toHaveLength(1);
});

test('prints it in a dry run and writes nothing', async () => {
  await world.once();
  const [service] = await world.services();
  await label(services, service, null);
  const [edited] = await world.services();
  let printed = '';
  const print = (text: string) => (printed += text);
  await world.discoverer({}, { print }).once(false, AbortSignal.timeout(300_000));
  expect(printed).toContain('causeway.dev/backend');
  expect(await world.services()).toEqual([edited]);
});

test('leaves objects unchanged that others have labeled or copied', async () => {
  await world.once();
  const [service] = await world.services();
  const copy = {
    metadata: {
      ...service?.metadata,
      name: 'copy',
      uid: '',
      resourceVersion: '',
      labels: { app: 'mine' },
    },
    spec: { ports: [{ port: 1 }] },
  };
  await world.client.create(services, copy);
  await world.once();
  const found = await world.client.get(services, { namespace: 'demo', name: 'copy' });
  expect(found.metadata?.labels).toEqual({ app: 'mine' });
});
