import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadBalancer, startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { services } from '@causeway/kubernetes/objects/resources';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.stop());

const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });
const names = async () =>
  (await world.services()).map(({ metadata }) => metadata?.name ?? '').sort();
/** Counts cycles from now on, by their requests. */
function countCycles(): () => number {
  let count = 0;
  world.cloud.onRequest(({ path }) => (count += path.endsWith('/auth/projects') ? 1 : 0));
  return () => count;
}

describe('a failure deletes nothing', () => {
  test.each([
    ['a list', { path: /\/lbaas\/listeners$/, effect: { kind: 'answer', status: 500 } }],
    [
      'the members of one pool',
      { path: /\/members$/, after: 1, effect: { kind: 'answer', status: 500 } },
    ],
    ['a pool that is gone', { path: /\/members$/, effect: { kind: 'answer', status: 404 } }],
    [
      'not JSON',
      { path: /\/lbaas\/pools$/, effect: { kind: 'answer', status: 200, text: '<html>' } },
    ],
  ] as const)('%s', async (_, fault) => {
    world.addLoadBalancer('demo', 'one', '10.10.0.5');
    const { id } = world.addLoadBalancer('demo', 'two', '10.10.0.6');
    world.addLoadBalancer('demo', 'three', '10.10.0.7');
    await world.once();
    const before = await names();
    world.removeLoadBalancer(id);
    world.cloud.faults.add(fault);
    expect(await world.once()).toMatchObject({ failed: 1, removed: 0 });
    expect(await names()).toEqual(before);
    expect(world.events.at(-1)).toContain('Warning ProjectFailed Namespace//demo');
    world.cloud.faults.clear();
    expect(await world.once({ maxLossShare: 0.5 })).toMatchObject({ failed: 0, removed: 2 });
  });

  test('a missing second page', async () => {
    await world.stop();
    world = await startWorld({ pageSize: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) world.addLoadBalancer('demo', name, '10.10.0.5');
    await world.once();
    const fault = {
      path: /\/lbaas\/loadbalancers$/,
      after: 1,
      effect: { kind: 'answer', status: 500 },
    } as const;
    world.cloud.faults.add(fault);
    expect(await world.once({ projects: ['demo'] })).toMatchObject({ failed: 1, removed: 0 });
    expect(await names()).toHaveLength(5);
  });

  test('fails only the project that can not be entered', async () => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    world.addLoadBalancer('alt', 'web', '10.10.0.6');
    await world.once();
    world.addLoadBalancer('alt', 'more', '10.10.0.7');
    const { directory } = world.cloud.keystone;
    const disabled = directory.projects.get(world.projectId('demo'));
    // Listed, and disabled a moment later: only the scoped login is refused.
    const stop = world.cloud.onRequest(({ path }) => {
      if (path.endsWith('/auth/projects') && disabled !== undefined) disabled.enabled = false;
    });
    expect(await world.once()).toMatchObject({ failed: 1, written: 2, removed: 0 });
    stop();
    expect(await names()).toHaveLength(3);
  });
});

describe('an answer that would remove too much', () => {
  test('releases an empty project after three cycles', async () => {
    const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once();
    world.removeLoadBalancer(id);
    const held = await world.once();
    expect(held).toMatchObject({ held: 1, removed: 0 });
    expect(world.events.at(-1)).toMatch(
      /Warning DeletionsHeld Namespace\/\/demo: 1 load balancers/,
    );
    expect(await names()).toHaveLength(1);
    const cycles = countCycles();
    const running = world.start();
    await until(async () => expect(await world.slices()).toEqual([]));
    await running.stop();
    expect(cycles()).toBeGreaterThanOrEqual(3);
    expect(await names()).toEqual([]);
  });

  test('releases it at once after confirmation', async () => {
    const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once();
    world.removeLoadBalancer(id);
    expect(await world.once({}, true)).toMatchObject({ held: 0, removed: 2 });
    expect(await names()).toEqual([]);
  });

  test('fails the project if listeners are missing only in a list', async () => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once();
    const [before] = await world.slices();
    const lie = {
      path: /\/lbaas\/listeners$/,
      effect: { kind: 'answer', status: 200, text: '{"listeners": []}' },
    } as const;
    world.cloud.faults.add(lie);
    expect(await world.once()).toMatchObject({ failed: 1, written: 0, removed: 0 });
    expect((await world.slices())[0]?.endpoints).toEqual(before?.endpoints);
  });

  test('holds the loss of the listeners of every load balancer', async () => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once();
    const { listeners } = world.cloud.octavia;
    for (const { id } of listeners.all()) listeners.delete(id);
    expect(await world.once()).toMatchObject({ held: 1, written: 0, removed: 0 });
  });

  test('leaves a load balancer unchanged if members are missing only in a list', async () => {
    world.addLoadBalancer('demo', 'web', '10.10.0.5');
    await world.once();
    const text = '{"members": []}';
    world.cloud.faults.add({ path: /\/members$/, effect: { kind: 'answer', status: 200, text } });
    expect(await world.once({}, true)).toMatchObject({ refused: 1, written: 0, removed: 0 });
    expect(world.events.at(-1)).toContain('Warning LoadBalancerUnclear Service/demo/east-web');
  });

  test("stops nothing else because of another tenant's listener", async () => {
    await world.stop();
    world = await startWorld({ loadBalancing: 'lbaas-v2' });
    const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
    world.addLoadBalancer('demo', 'other', '10.10.0.6');
    await world.once();
    const row = world.cloud.octavia.listeners.all().find((one) => one.loadbalancer_id === id);
    if (row === undefined) throw new Error('no listener');
    Object.assign(row, { project_id: world.projectId('alt') });
    world.addLoadBalancer('demo', 'new', '10.10.0.7');
    const settings = { projects: ['demo'] };
    expect(await world.once(settings)).toMatchObject({ failed: 0, refused: 1, written: 2 });
    expect(world.events.join()).toContain(`LoadBalancerUnclear Service/demo/east-web-${id}`);
    expect(await world.slices()).toHaveLength(3);
  });

  test('holds the loss also beside a load balancer without listeners', async () => {
    const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
    world.addLoadBalancer('alt', 'web', '10.10.0.6');
    const shell = world.addLoadBalancer('demo', 'shell');
    for (const row of world.cloud.octavia.listeners.all()) {
      if (row.loadbalancer_id === shell.id) world.cloud.octavia.listeners.delete(row.id);
    }
    await world.once();
    expect(await names()).toHaveLength(3);
    world.removeLoadBalancer(id);
    expect(await world.once({ maxLossShare: 1 })).toMatchObject({ held: 1, removed: 0 });
    world.removeLoadBalancer(shell.id);
    world.addLoadBalancer('demo', 'next', '10.10.0.7');
    expect(await world.once({ maxLossShare: 0.5 })).toMatchObject({ held: 0, removed: 3 });
  });

  test('holds a share of the backend', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((name) =>
      world.addLoadBalancer('demo', name, '10.10.0.5'),
    );
    world.addLoadBalancer('alt', 'e', '10.10.0.5');
    await world.once();
    for (const { id } of rows.slice(0, 2)) world.removeLoadBalancer(id);
    expect(await world.once()).toMatchObject({ held: 2, removed: 0 });
    expect(await world.once({ maxLossShare: 0.4 })).toMatchObject({ held: 0, removed: 4 });
  });

  test('holds one port of each load balancer', async () => {
    const { cloud } = world;
    const pools = ['a', 'b', 'c', 'd', 'e'].map((name) => {
      const { listeners, ...request } = loadBalancer(cloud, name, ['10.10.0.5']);
      const both = listeners.flatMap((one) => [
        one,
        {
          ...one,
          name: 'more',
          protocol_port: 81,
          default_pool: { ...one.default_pool, name: 'more' },
        },
      ]);
      const { id } = cloud.addLoadBalancer(world.projectId('demo'), {
        ...request,
        listeners: both,
      });
      const row = cloud.octavia.listeners
        .all()
        .find((one) => one.loadbalancer_id === id && one.protocol_port === 81);
      return row?.default_pool_id;
    });
    await world.once();
    expect(await world.slices()).toHaveLength(10);
    const { members } = cloud.octavia;
    for (const row of members.all()) if (pools.includes(row.pool_id)) members.delete(row.id);
    expect(await world.once()).toMatchObject({ held: 5, removed: 0 });
    expect(await world.slices()).toHaveLength(10);
    expect(await world.once({ maxLossShare: 0.5 })).toMatchObject({ held: 0, removed: 5 });
  });

  test('continues with the rest while deletions are held', async () => {
    const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
    world.addLoadBalancer('alt', 'web', '10.10.0.6');
    await world.once();
    world.removeLoadBalancer(id);
    world.addLoadBalancer('alt', 'new', '10.10.0.7');
    expect(await world.once()).toMatchObject({ held: 1, written: 2 });
  });
});

test('a renamed project that also lost its members gets its new namespace', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.once();
  const project = world.cloud.keystone.directory.projects.get(world.projectId('demo'));
  if (project === undefined) throw new Error('no project demo');
  project.name = 'renamed';
  const { members } = world.cloud.octavia;
  for (const { id } of members.all()) members.delete(id);
  // The namespace and the Service there are created; the old Service and its slice are deleted.
  expect(await world.once({}, true)).toMatchObject({ failures: 0, written: 2, removed: 2 });
  expect((await world.services()).map(({ metadata }) => metadata?.namespace)).toEqual(['renamed']);
  expect(await world.once({}, true)).toMatchObject({ written: 0, removed: 0 });
});

test('corrects an object with edited labels, and deletes nothing', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  await world.once();
  const [before] = await world.services();
  const { namespace = '', name = '', uid } = before?.metadata ?? {};
  for (const label of ['causeway.dev/load-balancer-id', 'causeway.dev/project-id']) {
    const change = { metadata: { labels: { [label]: 'edited' } } };
    await world.client.patchMerge(services, { namespace, name }, change);
    const report = await world.once({ maxLossShare: 1 }, true);
    expect(report).toMatchObject({ held: 0, removed: 0 });
    const mended = await world.client.get(services, { namespace, name });
    expect(mended.metadata?.uid).toBe(uid);
    expect(mended.metadata?.labels).toEqual(before?.metadata?.labels);
  }
});

test('cleans up a project that was really deleted', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  await world.once();
  world.cloud.keystone.directory.deleteProject(world.projectId('alt'));
  const running = world.start();
  await until(async () => expect(await names()).toHaveLength(1));
  await running.stop();
});

test('keeps the objects of a disabled project', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  await world.once();
  const projects = ['demo', 'alt'].map((name) => {
    return { id: world.projectId(name), name, domain_id: 'default', enabled: name === 'alt' };
  });
  const text = JSON.stringify({ projects });
  world.cloud.faults.add({
    path: /\/auth\/projects$/,
    effect: { kind: 'answer', status: 200, text },
  });
  const report = await world.once({}, true);
  expect(report).toMatchObject({ projects: 1, held: 0, removed: 0, written: 0 });
  expect(await names()).toHaveLength(2);
});

test('removes nothing because of an empty list of projects', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.once();
  const lie = {
    path: /\/auth\/projects$/,
    effect: { kind: 'answer', status: 200, text: '{"projects": []}' },
  } as const;
  world.cloud.faults.add(lie);
  expect(await world.once()).toMatchObject({ projects: 0, held: 1, removed: 0 });
});
