import { afterEach, expect, test, vi } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';

let world: World;
afterEach(() => world.stop());

const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

/** Adds twenty projects beside the existing ones, in which the user has these roles. */
function addProjects(...roles: string[]): void {
  const { directory } = world.cloud.keystone;
  const user = directory.findUser('default', 'demo');
  for (let index = 0; index < 20; index += 1) {
    directory.grant(user?.id ?? '', directory.addProject('default', `p${index}`).id, ...roles);
  }
}

test('a hanging project delays no other, and ends at its own deadline', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  const pool = world.cloud.octavia.pools
    .all()
    .find(({ project_id: id }) => id === world.projectId('demo'));
  const hang = {
    path: new RegExp(`/pools/${pool?.id}/members$`),
    effect: { kind: 'delay', milliseconds: 60_000 },
  } as const;
  world.cloud.faults.add(hang);
  let ended = false;
  const once = world.once({ projectSeconds: 2 }).finally(() => (ended = true));
  await until(async () => expect(await world.slices()).toHaveLength(1));
  expect(ended).toBe(false);
  expect(await once).toMatchObject({ failed: 1, replicated: 1 });
});

test('a hanging backend delays no other', async () => {
  world = await startWorld();
  const other = await startWorld();
  other.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.cloud.faults.add({ effect: { kind: 'delay', milliseconds: 60_000 } });
  const yaml = (authUrl: string) => ({
    auth: { auth_url: authUrl, username: 'demo', password: 'demo' },
  });
  const clouds = { hanging: yaml(world.cloud.authUrl), good: yaml(other.cloud.authUrl) };
  await other.writeFile('clouds.yaml', JSON.stringify({ clouds }));
  const backends = [
    { name: 'east', cloud: 'hanging' },
    { name: 'west', cloud: 'good' },
  ];
  const running = other.start({ backends });
  await until(async () => expect(await other.slices()).toHaveLength(1));
  await running.stop();
  await other.stop();
});

test('projects that refuse access in a row fail individually', async () => {
  world = await startWorld();
  const { directory } = world.cloud.keystone;
  addProjects('member', 'load-balancer_member');
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  // Listed, and disabled a moment later: only the scoped logins are refused.
  const stop = world.cloud.onRequest(({ path }) => {
    if (!path.endsWith('/auth/projects')) return;
    for (const row of directory.projects.all()) if (/^p\d/.test(row.name)) row.enabled = false;
  });
  expect(await world.once({ workers: 2 })).toMatchObject({ failed: 20, replicated: 1 });
  stop();
});

test('services that refuse access in a row fail only their projects', async () => {
  world = await startWorld();
  // No role that may read load balancers: Octavia answers 403.
  addProjects('member');
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  expect(await world.once({ workers: 2 })).toMatchObject({ failed: 20, replicated: 1 });
});

test('an outage of the cloud from the start fails the cycle instead of one project after another', async () => {
  world = await startWorld();
  addProjects('member', 'load-balancer_member');
  let asked = 0;
  world.cloud.onRequest(({ path }) => (asked += path.endsWith('/lbaas/loadbalancers') ? 1 : 0));
  world.cloud.faults.add({ path: /\/lbaas\//, effect: { kind: 'answer', status: 500 } });
  await expect(world.once({ workers: 2 })).rejects.toThrow(/^6 projects failed in a row/);
  expect(asked).toBeLessThan(10);
});

test('an outage of the cloud after some projects leaves the others to the next cycle', async () => {
  world = await startWorld();
  addProjects('member', 'load-balancer_member');
  let asked = 0;
  world.cloud.onRequest(({ path }) => (asked += path.endsWith('/lbaas/loadbalancers') ? 1 : 0));
  world.cloud.faults.add({
    path: /\/lbaas\/loadbalancers$/,
    after: 2,
    effect: { kind: 'answer', status: 500 },
  });
  expect(await world.once({ workers: 2 })).toMatchObject({ projects: 22, failed: 20 });
  expect(asked).toBeLessThan(12);
});

test('projects that never answer do not starve the others', async () => {
  world = await startWorld();
  const { directory } = world.cloud.keystone;
  const user = directory.findUser('default', 'demo');
  const ids = Array.from({ length: 12 }, (_, index) => {
    const project = directory.addProject('default', `p${index}`);
    directory.grant(user?.id ?? '', project.id, 'member', 'load-balancer_member');
    world.addLoadBalancer(`p${index}`, 'web', '10.10.0.5');
    return project.id;
  });
  // The first projects, as many as end a cycle.
  const unhealthy = [...ids].sort().slice(0, 6);
  for (const { id, project_id: owner } of world.cloud.octavia.pools.all()) {
    if (!unhealthy.includes(owner)) continue;
    const path = new RegExp(`/pools/${id}/members$`);
    world.cloud.faults.add({ path, effect: { kind: 'answer', status: 500 } });
  }
  const running = world.start({ workers: 2, ignoreProjects: ['demo', 'alt'] });
  await until(async () => expect(await world.services()).toHaveLength(6));
  await running.stop();
});

test('a cluster that accepts no namespaces is no outage of the cloud', async () => {
  world = await startWorld({}, ({ method, resource }) =>
    method === 'POST' && resource?.plural === 'namespaces'
      ? { kind: 'refuse', reason: 'ServiceUnavailable' }
      : undefined,
  );
  addProjects('member', 'load-balancer_member');
  for (let index = 0; index < 5; index += 1) world.addLoadBalancer(`p${index}`, 'web', '10.10.0.5');
  // Three in a row would end a cycle.
  expect(await world.once({ workers: 1 })).toMatchObject({ projects: 22, failed: 5, read: 22 });
});
