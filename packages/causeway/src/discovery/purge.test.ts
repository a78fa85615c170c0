import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { services } from '@causeway/kubernetes/objects/resources';
import { purgeBackend } from './purge.ts';

let world: World;
afterEach(() => world.stop());

test('finds the objects of a backend by their mark, whatever their labels', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.once();
  const [service] = await world.services();
  const { namespace = '', name = '' } = service?.metadata ?? {};
  const change = { metadata: { labels: { 'causeway.dev/backend': null } } };
  await world.client.patchMerge(services, { namespace, name }, change);
  const { signal } = new AbortController();
  expect(await purgeBackend(world.client, 'west', true, signal)).toEqual([]);
  const reported: string[] = [];
  const listener = {
    begin: (what: string, total: number) => void reported.push(`${what} ${total}`),
    step: (thing: string) => void reported.push(thing.split('/')[0] ?? ''),
  };
  expect(await purgeBackend(world.client, 'east', true, signal, listener)).toHaveLength(2);
  const checks = ['Checking 3', 'services', 'endpointslices.discovery.k8s.io', 'endpoints'];
  expect(reported).toEqual([...checks, 'Deleting 2', namespace, namespace]);
  expect([...(await world.services()), ...(await world.slices())]).toEqual([]);
});
