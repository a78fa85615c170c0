import { afterEach, expect, test } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { namespaces } from '@causeway/kubernetes/objects/resources';
import { purgeBackend } from './purge.ts';

let world: World;
afterEach(() => world.stop());

async function dryRun(settings: Record<string, unknown> = {}, isConfirmed = true): Promise<string> {
  let printed = '';
  const discoverer = world.discoverer(settings, { print: (text) => (printed += text) });
  await discoverer.once(isConfirmed, AbortSignal.timeout(30_000));
  return printed;
}

test('a dry run prints the objects to create, change and delete, and does nothing', async () => {
  world = await startWorld();
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5', '10.10.0.6');
  const service = `demo/east-web-${id}`;
  const first = await dryRun();
  expect(first).toBe(
    [
      '+ namespaces/demo',
      `+ services/${service}  load balancer "web" (${id})`,
      '    port http-80/TCP: 2 endpoints, 2 ready',
      `+ endpointslices.discovery.k8s.io/${service}-80-tcp-8080-ipv4-0`,
      '',
    ].join('\n'),
  );
  expect(await world.client.find(namespaces, { name: 'demo' })).toBeUndefined();

  await world.once();
  expect(await dryRun()).toBe('');
  for (const row of world.cloud.octavia.members.all()) row.weight = 3;
  const [member] = world.cloud.octavia.members.all();
  if (member !== undefined) member.weight = 0;
  const changed = await dryRun();
  expect(changed).toContain(`~ endpointslices.discovery.k8s.io/${service}-`);
  expect(changed).toContain(`    endpoints[${member?.address}].conditions.ready: true -> false`);
  expect(changed).toContain('    metadata.annotations.causeway.dev/weights: nothing -> ');

  world.removeLoadBalancer(id);
  expect(await dryRun()).toContain(`- services/${service}\n`);
  const held = await dryRun({}, false);
  expect(held).toMatch(/^! not without --confirm .* the project would lose everything:\n/);
  expect(held).toContain(`!   - services/${service}\n`);
  expect(await world.services()).toHaveLength(1);
});

test('a purge lists the objects of a backend, and deletes them after confirmation', async () => {
  world = await startWorld();
  const { client } = world;
  const { signal } = new AbortController();
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.once();
  await world.once({ backendName: 'west' });
  const found = await purgeBackend(client, 'east', false, signal);
  expect(found.map(({ resource, name }) => `${resource} ${name.slice(0, 9 + id.length)}`)).toEqual([
    `services east-web-${id}`,
    `endpointslices.discovery.k8s.io east-web-${id}`,
  ]);
  expect(await world.services()).toHaveLength(2);
  expect(await purgeBackend(client, 'east', true, signal)).toHaveLength(2);
  expect((await world.services()).map(({ metadata }) => metadata?.name)).toEqual([
    `west-web-${id}`,
  ]);
  expect(await purgeBackend(client, 'east', true, signal)).toEqual([]);
});

test('a dry run leaves out a project if its namespace is being deleted, as a cycle does', async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const finalizers = ['example.com/wait'];
  await world.client.create(namespaces, { metadata: { name: 'demo', finalizers } });
  await world.client.delete(namespaces, { name: 'demo' });
  let printed = '';
  const print = (text: string) => (printed += text);
  const signal = AbortSignal.timeout(300_000);
  const [result] = await world.discoverer({}, { print }).once(false, signal);
  expect(result?.report).toMatchObject({ skipped: 1, written: 0 });
  expect(printed).toBe(
    '! the namespace demo is being deleted; discovery skips its project until the deletion is complete\n',
  );
  expect(await world.once()).toMatchObject({ skipped: 1, written: 0 });
});

test("names from the cloud can't send control characters to the terminal", async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web\u009b2J\u202e\u001b[31m', '10.10.0.5');
  const printed = await dryRun();
  expect(printed).toContain('load balancer "web');
  // oxlint-disable-next-line no-control-regex
  expect(printed.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
});
