import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpointSlices, services } from '@causeway/kubernetes/objects/resources';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const mark = 'causeway.dev/discovered-from';

async function edit(resource: Resource, object: KubeObject | undefined, change: object) {
  const { namespace = '', name = '' } = object?.metadata ?? {};
  await world.client.patchMerge(resource, { namespace, name }, { metadata: change });
}

const uids = (objects: readonly KubeObject[]) =>
  objects.map(({ metadata }) => metadata?.uid ?? '').sort();

describe('an edited mark', () => {
  test.each([
    ['nothing', () => 'gone/gone'],
    ['no load balancer of its project', () => `${world.projectId('demo')}/gone`],
    ['one of another project', (other: string) => `${world.projectId('alt')}/${other}`],
    ['no source', () => 'x'],
  ])('that names %s is restored, and nothing is deleted', async (_, source) => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) world.addLoadBalancer('demo', name, '10.10.0.5');
    const other = world.addLoadBalancer('alt', 'other', '10.10.0.6');
    await world.once();
    const before = [await world.services(), await world.slices()] as const;
    const annotations = { [mark]: source(other.id) };
    await edit(
      services,
      before[0].find(({ metadata }) => metadata?.namespace === 'demo'),
      {
        annotations,
      },
    );
    await edit(
      endpointSlices,
      before[1].find(({ metadata }) => metadata?.namespace === 'demo'),
      {
        annotations,
      },
    );
    const settings = { maxLossShare: 1, projects: ['demo', 'alt'] };
    expect(await world.once(settings, true)).toMatchObject({ written: 2, removed: 0, held: 0 });
    const after = [await world.services(), await world.slices()] as const;
    expect(after.map(uids)).toEqual(before.map(uids));
    expect(after[0].map(({ metadata }) => metadata?.annotations)).toEqual(
      before[0].map(({ metadata }) => metadata?.annotations),
    );
    expect(await world.once(settings)).toMatchObject({ written: 0, removed: 0 });
  });

  test('of the only load balancer leaves its project in its namespace', async () => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once();
    const [service] = await world.services();
    const [slice] = await world.slices();
    const annotations = { [mark]: 'gone/gone' };
    await edit(services, service, { annotations });
    await edit(endpointSlices, slice, { annotations });
    await world.once({}, true);
    expect(uids(await world.services())).toEqual(uids(service === undefined ? [] : [service]));
  });

  test('of a load balancer in an unread project keeps its object', async () => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    const { id } = world.addLoadBalancer('alt', 'web', '10.10.0.6');
    await world.once();
    const service = (await world.services()).find(({ metadata }) => metadata?.name?.endsWith(id));
    await edit(services, service, { annotations: { [mark]: `${world.projectId('demo')}/gone` } });
    const alt = world.cloud.keystone.directory.projects.get(world.projectId('alt'));
    const stop = world.cloud.onRequest(({ path }) => {
      if (path.endsWith('/auth/projects') && alt !== undefined) alt.enabled = false;
    });
    expect(await world.once({}, true)).toMatchObject({ failed: 1, removed: 0, held: 0 });
    stop();
  });
});

test('an object with edited marks stays if it names a project that is not read', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const { id } = world.addLoadBalancer('alt', 'web', '10.10.0.6');
  await world.once();
  const service = (await world.services()).find(({ metadata }) => metadata?.name?.endsWith(id));
  await edit(services, service, { annotations: { [mark]: 'gone/gone' } });
  const settings = { maxLossShare: 1, projects: ['demo'] };
  expect(await world.once(settings)).toMatchObject({ held: 0, removed: 0 });
  expect(await world.services()).toHaveLength(2);
});

test('an unneeded object with edited marks is deleted when three cycles agree, or at once after confirmation', async () => {
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('demo', 'more', '10.10.0.5');
  await world.once();
  const service = (await world.services()).find(({ metadata }) => metadata?.name?.endsWith(id));
  await edit(services, service, { labels: { 'causeway.dev/project-id': 'edited' } });
  world.removeLoadBalancer(id);
  const settings = { maxLossShare: 1 };
  expect(await world.once(settings)).toMatchObject({ held: 1, removed: 1 });
  expect(world.events.join()).toContain('unknown, by edited marks');
  expect(await world.once(settings, true)).toMatchObject({ held: 0, removed: 1 });
  expect(await world.services()).toHaveLength(2);
});

test('an unneeded object with edited marks is deleted also while another project is not read', async () => {
  const kept = world.addLoadBalancer('alt', 'web', '10.10.0.6');
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const more = world.addLoadBalancer('demo', 'more', '10.10.0.5');
  await world.once();
  const service = (await world.services()).find(({ metadata }) => metadata?.name?.endsWith(id));
  await edit(services, service, { labels: { 'causeway.dev/project-id': 'edited' } });
  world.removeLoadBalancer(id);
  const running = world.start({ maxLossShare: 1, ignoreProjects: ['alt'] });
  await expect.poll(() => world.services()).toHaveLength(2);
  await running.stop();
  const names = (await world.services()).map(({ metadata }) => metadata?.name ?? '');
  for (const left of [kept, more]) expect(names.join()).toContain(left.id);
});
