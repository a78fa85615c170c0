import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  await world.once();
});
afterEach(() => world.stop());

const places = async () =>
  (await world.services()).map(({ metadata }) => metadata?.namespace ?? '').sort();

test.each([{ projects: ['dmeo'] }, { projects: ['demo'] }, { ignoreProjects: ['alt'] }])(
  'keeps the objects of projects that are no longer chosen: %j',
  async (settings) => {
    expect(await world.once(settings)).toMatchObject({ held: 0, removed: 0, written: 0 });
    expect(await places()).toEqual(['alt', 'demo']);
  },
);

test('removes them after confirmation, unless no project is chosen', async () => {
  expect(await world.once({ projects: ['dmeo'] }, true)).toMatchObject({ held: 0, removed: 0 });
  expect(await world.once({ projects: ['demo'] }, true)).toMatchObject({ held: 0, removed: 2 });
  expect(await places()).toEqual(['demo']);
});

test('reports a name that no project has', async () => {
  await world.once({ projects: ['demo', 'dmeo'], ignoreProjects: ['atl'] });
  const recorded = world.events.filter((event) => event.includes('ProjectUnknown'));
  expect(recorded).toEqual([
    expect.stringContaining(
      'Warning ProjectUnknown Namespace//default: backend east: the lists of projects name "dmeo"',
    ),
    expect.stringContaining('the lists of projects name "atl"'),
  ]);
});

test('keeps the objects of a project that is renamed and chosen by its old name', async () => {
  const project = world.cloud.keystone.directory.projects.get(world.projectId('demo'));
  if (project === undefined) throw new Error('no project demo');
  project.name = 'renamed';
  expect(await world.once({ projects: ['demo', 'alt'] })).toMatchObject({ held: 0, removed: 0 });
  expect(await places()).toEqual(['alt', 'demo']);
});
