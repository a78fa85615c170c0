import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startWorld, type World } from '../../../../test/discovery/embedded-world.ts';
import { namespaces, secrets } from '@causeway/kubernetes/objects/resources';

let world: World;
beforeEach(async () => {
  world = await startWorld();
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
});
afterEach(() => world.stop());

const until = (check: () => Promise<void> | void) =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

function secretData(changes: Record<string, string> = {}) {
  const values = {
    keystoneUrl: world.cloud.authUrl,
    username: 'demo',
    password: 'demo',
    userDomain: 'default',
    ...changes,
  };
  return Object.fromEntries(
    Object.entries(values).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

async function createSecret(name: string, changes: Record<string, string> = {}): Promise<void> {
  if ((await world.client.find(namespaces, { name: 'clouds' })) === undefined) {
    await world.client.create(namespaces, { metadata: { name: 'clouds' } });
  }
  const metadata = { namespace: 'clouds', name };
  await world.client.create(secrets, { metadata, type: 'Opaque', data: secretData(changes) });
}

/** Counts requests of this kind from now on. */
function count(asked: string): () => number {
  let times = 0;
  world.cloud.onRequest(({ method, path }) => {
    if (`${method} ${path}`.endsWith(asked)) times += 1;
  });
  return () => times;
}

test('opens the cloud with the documented Secret, and prefers its addresses to the catalog', async () => {
  await createSecret('east', { octaviaUrl: `${world.cloud.loadBalancerUrl}/` });
  expect(await world.once({ secret: 'clouds/east' })).toMatchObject({ replicated: 1 });
  await createSecret('lost', { octaviaUrl: 'http://127.0.0.1:9/' });
  const lost = await world.once({ secret: 'clouds/lost', projectSeconds: 1 });
  expect(lost).toMatchObject({ failed: 2, removed: 0 });
});

test("prefers the given Neutron address to the catalog's Octavia if it has LBaaS v2", async () => {
  await createSecret('lost', { neutronUrl: 'http://127.0.0.1:9/' });
  const lost = await world.once({ secret: 'clouds/lost', projectSeconds: 1 });
  expect(lost).toMatchObject({ failed: 2, removed: 0 });
  // This Neutron has no load balancing, so there is nothing to prefer.
  await createSecret('east', { neutronUrl: `${world.cloud.networkUrl}/` });
  expect(await world.once({ secret: 'clouds/east' })).toMatchObject({ replicated: 1 });
  await world.stop();
  world = await startWorld({ loadBalancing: 'lbaas-v2' });
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  world.cloud.keystone.catalog.add('load-balancer', 'octavia', 'http://127.0.0.1:9');
  await createSecret('older', { neutronUrl: `${world.cloud.networkUrl}/` });
  expect(await world.once({ secret: 'clouds/older' })).toMatchObject({ replicated: 1, failed: 0 });
});

test('ends the run with a clear message if the credentials of a single backend are refused', async () => {
  await createSecret('east', { password: 'wrong' });
  const running = world.start({ secret: 'clouds/east' });
  await expect(running.ended).rejects.toMatchObject({ code: 'unauthorized' });
  expect(world.events).toEqual([
    expect.stringContaining('Warning CredentialsRefused Secret/clouds/east: backend east'),
  ]);
});

test('ends the run for a Secret without an address', async () => {
  await createSecret('east', { keystoneUrl: '' });
  const running = world.start({ secret: 'clouds/east' });
  await expect(running.ended).rejects.toMatchObject({ code: 'invalid' });
  expect(world.events).toEqual([
    expect.stringContaining('Warning CredentialsUnusable Secret/clouds/east: backend east'),
  ]);
});

test.each([
  ['identity_api_version', '2', 'only Keystone v3'],
  ['auth_type', 'v3oidcpassword', 'auth_type "v3oidcpassword"'],
  ['profile', 'vendor', 'profile'],
  ['interface', 'private', 'no interface "private"'],
])('ends the run for unusable credentials: %s: %s', async (setting, value, message) => {
  const auth = { auth_url: world.cloud.authUrl, username: 'demo', password: 'demo' };
  const entry = JSON.stringify({ auth }).replace('{', `{${setting}: ${value}, `);
  await world.writeFile('clouds.yaml', `clouds: {a: ${entry}}`);
  const running = world.start({ cloud: 'a' }, { environment: {} });
  await expect(running.ended).rejects.toMatchObject({ code: 'invalid' });
  expect(world.events).toEqual([expect.stringContaining('Warning CredentialsUnusable')]);
  expect(world.events[0]).toContain(message);
});

test('waits for a Secret that does not exist yet', async () => {
  const running = world.start({ secret: 'clouds/east' });
  await until(() => expect(world.events.join()).toContain('BackendFailed Secret/clouds/east'));
  await createSecret('east');
  await until(async () => expect(await world.slices()).toHaveLength(1));
  await running.stop();
});

test.each([400, 403, 404, 409, 500])(
  'keeps running if a cloud answers %i from the start',
  async (status) => {
    await createSecret('east');
    const text = '<html>a page of a proxy</html>';
    world.cloud.faults.add({ effect: { kind: 'answer', status, text } });
    const running = world.start({ secret: 'clouds/east', requestSeconds: 0.5 });
    await until(() => expect(world.events.join()).toContain('BackendFailed'));
    world.cloud.faults.clear();
    await until(async () => expect(await world.slices()).toHaveLength(1));
    await running.stop();
  },
);

test('waits for a correction of one of several backends while the others continue', async () => {
  await createSecret('east', { password: 'wrong' });
  await createSecret('west');
  const backends = [
    { name: 'east', secret: 'clouds/east' },
    { name: 'west', secret: 'clouds/west' },
  ];
  const running = world.start({ backends });
  const prefixes = async () =>
    (await world.services()).map(({ metadata }) => metadata?.name?.slice(0, 4) ?? '').sort();
  await until(async () => expect(await prefixes()).toEqual(['west']));
  await until(() => expect(world.events.join()).toContain('CredentialsRefused Secret/clouds/east'));
  // The empty project may still be read; when the next cycle begins, both are.
  const cycles = count('/auth/projects');
  await until(() => expect(cycles()).toBeGreaterThan(0));
  const logins = count('POST /v3/auth/tokens');
  world.addLoadBalancer('alt', 'more', '10.10.0.6');
  await until(async () => expect(await prefixes()).toEqual(['west', 'west']));
  expect(logins()).toBe(0);
  await world.client.patchMerge(
    secrets,
    { namespace: 'clouds', name: 'east' },
    { data: secretData() },
  );
  await until(async () => expect(await prefixes()).toEqual(['east', 'east', 'west', 'west']));
  await running.stop();
});

test('keeps running and changes nothing while a cloud is unreachable', async () => {
  await createSecret('east');
  const running = world.start({ secret: 'clouds/east', requestSeconds: 0.5 });
  await until(async () => expect(await world.slices()).toHaveLength(1));
  const fault = { effect: { kind: 'answer', status: 503 } } as const;
  world.cloud.faults.add(fault);
  await until(() => expect(world.events.join()).toMatch(/BackendFailed|ProjectFailed/));
  world.cloud.faults.clear();
  world.addLoadBalancer('demo', 'more', '10.10.0.6');
  await until(async () => expect(await world.slices()).toHaveLength(2));
  await running.stop();
});

test('keeps the credentials if the Secret is deleted', async () => {
  await createSecret('east');
  const running = world.start({ secret: 'clouds/east' });
  await until(async () => expect(await world.slices()).toHaveLength(1));
  await world.client.delete(secrets, { namespace: 'clouds', name: 'east' });
  world.addLoadBalancer('demo', 'more', '10.10.0.6');
  await until(async () => expect(await world.slices()).toHaveLength(2));
  await running.stop();
});

test('discovers the project of an application credential', async () => {
  const { directory } = world.cloud.keystone;
  world.addLoadBalancer('alt', 'web', '10.10.0.6');
  const user = directory.findUser('default', 'demo');
  directory.applicationCredentials.insert({
    id: 'ac1',
    name: 'discovery',
    description: null,
    user_id: user?.id ?? '',
    project_id: world.projectId('alt'),
    secret: 's3cret',
    roles: directory.roles.all().filter(({ name }) => name.endsWith('member')),
    expiresAt: undefined,
    unrestricted: false,
  });
  const data = { applicationCredentialId: 'ac1', applicationCredentialSecret: 's3cret' };
  await createSecret('east', data);
  expect(await world.once({ secret: 'clouds/east' })).toMatchObject({ projects: 1, failed: 0 });
  expect((await world.services()).map(({ metadata }) => metadata?.namespace)).toEqual(['alt']);
});
