import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { events, leases } from '../../packages/kubernetes/src/objects/resources.ts';
import { collect } from '../../packages/openstack/src/collect.ts';
import { startWorld, type World } from '../discovery/embedded-world.ts';
import { freePort } from '../services/free-port.ts';
import { runProgram } from '../services/run-program.ts';
import { startServiceProcess } from '../services/service-process.ts';

const main = path.join(
  import.meta.dirname,
  '..',
  '..',
  'packages',
  'causeway',
  'src',
  'cli',
  'main.ts',
);
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const environment = (changes: Record<string, string> = {}) => ({
  ...world.environment,
  KUBECONFIG: world.kubeconfig,
  CAUSEWAY_LOG_FORMAT: 'text',
  ...changes,
});

/** Runs `causeway discover …` like an operator. */
function discover(args: string, changes: Record<string, string> = {}) {
  const env = environment(changes);
  return runProgram(process.execPath, [main, 'discover', ...args.split(' ')], { env });
}

const names = async (backend: string) =>
  (await world.services())
    .map(({ metadata }) => metadata?.name)
    .filter((name) => name?.startsWith(`${backend}-`));

test('from the first check to the last Service', async () => {
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const name = `demo/east-web-${id}`;
  const dry = await discover('--backend-name east --dry-run');
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout).toContain(
    `+ services/${name}  load balancer "web" (${id})\n    port http-80/TCP`,
  );
  expect(dry.stdout).toContain('3 objects would be written, 0 would be deleted');
  expect(await world.services()).toEqual([]);

  const skipped = await discover('--backend-name east --once --no-create-namespaces');
  expect(skipped).toMatchObject({ code: 1 });
  expect(skipped.stdout).toContain('0 objects written');
  expect(skipped.stderr).toContain('1 projects and 0 load balancers were left out');
  const once = await discover('--backend-name east --once --service-type ClusterIP');
  expect(once).toMatchObject({ code: 0 });
  expect(once.stdout).toBe(
    'east: 1 load balancers in 2 projects (0 failed); 3 objects written, 0 deleted, 0 load balancers held\n',
  );
  expect((await world.services())[0]?.spec?.clusterIP).toMatch(/^10\./);

  world.removeLoadBalancer(id);
  const held = await discover('--backend-name east --once');
  expect(held).toMatchObject({ code: 1 });
  expect(held.stderr).toContain('run the command again with --confirm');
  expect(await discover('--backend-name east --once --confirm')).toMatchObject({ code: 0 });
  expect(await world.services()).toEqual([]);
});

test('errors are reported by message and exit code', async () => {
  const wrong = await discover('--backend-name east', { OS_PASSWORD: 'wrong' });
  expect(wrong).toMatchObject({ code: 4 });
  expect(wrong.stderr).toContain('Keystone refuses the credentials');
  expect(wrong.stderr).toContain('Correct the user, the password');
  const recorded = await collect(world.client.list(events, { namespace: 'default' }));
  expect(recorded.map(({ reason }) => reason)).toContain('CredentialsRefused');
  expect(await discover('--backend-name east --once', { OS_PASSWORD: 'wrong' })).toMatchObject({
    code: 4,
  });
  const away = { OS_AUTH_URL: `http://127.0.0.1:${await freePort()}/v3` };
  expect(await discover('--backend-name east --once', away)).toMatchObject({ code: 6 });
  expect(await discover('--backend-name East --once')).toMatchObject({ code: 3 });
  expect(await discover('--once')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no backend is configured'),
  });
  const template = await discover('--backend-name east --namespace-template shop');
  expect(template.stderr).toContain('has neither {project} nor {projectId}');
});

test('the objects of a removed backend can be purged', async () => {
  const { id } = world.addLoadBalancer('demo', 'web', '10.10.0.5');
  await world.once({ backendName: 'old' });
  const listed = await discover('purge old');
  expect(listed.stdout).toMatch(new RegExp(`services +demo +old-web-${id}\\n[^]*2 objects found`));
  expect(await discover('purge old --confirm')).toMatchObject({ code: 0 });
  expect(await names('old')).toEqual([]);
  world.removeLoadBalancer(id);
});

test('runs until it is stopped: leads, is ready, has metrics', async () => {
  world.addLoadBalancer('demo', 'web', '10.10.0.5');
  const port = await freePort();
  const args = `discover --backend-name east --interval-seconds 1 --observe-port ${port}`;
  const running = startServiceProcess(process.execPath, [main, ...args.split(' ')], {
    env: environment(),
    logFile: '/dev/null',
  });
  const get = async (page: string) => (await fetch(`http://127.0.0.1:${port}${page}`)).text();
  const until = (check: () => Promise<void>) =>
    vi.waitFor(check, { timeout: 240_000, interval: 100 });
  await until(async () => expect(await get('/readyz')).toContain('[+] backend east'));
  expect(await names('east')).toHaveLength(1);
  const metrics = await get('/metrics');
  expect(metrics).toContain(
    'causeway_discovery_load_balancers{backend="east",state="replicated"} 1',
  );
  expect(metrics).toMatch(/causeway_discovery_last_success_timestamp_seconds\{backend="east"\} \d/);
  expect(metrics).toContain('route="/lbaas/pools/{id}/members"');
  const at = { namespace: 'kube-system', name: 'causeway-discovery-east' };
  expect((await world.client.get(leases, at)).spec?.holderIdentity).not.toBe('');
  await running.stop(20_000);
  expect((await world.client.get(leases, at)).spec?.holderIdentity).toBe('');
});
