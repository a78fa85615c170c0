import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { addNode, sleepyDeployment, webService } from '../contract/idling/objects.ts';
import { LiveCluster, type Workspace } from '../contract/kubernetes-live/live-cluster.ts';

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
const names = ['api', 'docs', 'web'] as const;
let cluster: LiveCluster;
let space: Workspace;
let directory: string;

beforeAll(async () => {
  cluster = await LiveCluster.embedded();
  directory = await scratchDirectory('idle');
  await addNode(cluster);
  space = await cluster.workspace('shop');
  for (const name of names) {
    const service = webService(name);
    const labels = { tier: name === 'docs' ? 'back' : 'front' };
    const annotations = name === 'api' ? { 'causeway.dev/hold': 'accept' } : {};
    await space.create('services', { ...service, metadata: { name, labels, annotations } });
    await space.create('deployments', sleepyDeployment(name, 2));
  }
  await space.until('the pods', 'pods', (all) => all.length === 2 * names.length);
  const isReady = async (name: string) =>
    (await space.list('endpointslices', `kubernetes.io/service-name=${name}`)).some((slice) =>
      JSON.stringify(slice['endpoints']).includes('"ready":true'),
    );
  await space.runPodsUntil('endpoints', async () =>
    (await Promise.all(names.map(isReady))).every(Boolean),
  );
});
afterAll(async () => {
  await cluster?.server.stop();
  await removeDirectory(directory);
});

const env = () => ({ KUBECONFIG: cluster.server.kubeconfig });
/** Runs `causeway …` like an operator. */
const causeway = (...words: string[]) =>
  runProgram(process.execPath, [main, ...words, '-n', 'shop'], { env: env() });
const replicas = async () => {
  const all = await Promise.all(names.map((name) => space.get('deployments', name)));
  return all.map((deployment) => deployment?.spec['replicas']);
};

test('idles Services by name, by labels, by a file or all of them, and only prints them in a dry run', async () => {
  const dry = await causeway('idle', '--all', '--dry-run');
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stdout.trim().split('\n').sort()).toEqual(
    names.map((name) => `shop/${name}: would scale Deployment ${name} from 2 to 0`),
  );
  expect(await replicas()).toEqual([2, 2, 2]);

  const labelled = await causeway('idle', '--selector', 'tier=back');
  expect(labelled).toMatchObject({ code: 0, stderr: '' });
  expect(labelled.stdout).toBe('shop/docs: scaled Deployment docs from 2 to 0\n');
  expect(await replicas()).toEqual([2, 0, 2]);

  const file = path.join(directory, 'names');
  await fs.writeFile(file, 'web\n');
  expect(await causeway('idle', '--resource-names-file', file)).toMatchObject({ code: 0 });
  expect(await replicas()).toEqual([2, 0, 0]);

  const accepted = await causeway('idle', 'api');
  expect(accepted).toMatchObject({ code: 0 });
  expect(accepted.stderr).toContain('bypass NetworkPolicies');
  expect(await replicas()).toEqual([0, 0, 0]);
  const again = await causeway('idle', 'web', '--dry-run');
  expect(again).toMatchObject({ code: 0, stdout: 'shop/web: is idle already\n' });

  for (const list of [
    await causeway('idle', 'list', '-o', 'json'),
    await runProgram(process.execPath, [main, 'idle', 'list', '-A', '-o', 'json'], { env: env() }),
  ]) {
    const rows = JSON.parse(list.stdout) as { service: string; targets: string[] }[];
    const lines = rows.map(({ service, targets }) => `${service}: ${targets.join()}`).sort();
    expect(lines).toEqual(names.map((name) => `${name}: Deployment ${name} × 2`));
  }
});

test('wakes them, and reports missing ones', async () => {
  let isAwake = false;
  const woken = causeway('wake', '--all').finally(() => (isAwake = true));
  await space.runPodsUntil('them to be awake', () => Promise.resolve(isAwake));
  expect(await woken).toMatchObject({ code: 0 });
  expect(await replicas()).toEqual([2, 2, 2]);
  expect((await causeway('wake', 'web')).stdout).toBe('shop/web: was awake\n');
  const unknown = await causeway('idle', 'nobody');
  expect(unknown.code).not.toBe(0);
  expect(unknown.stderr).toContain('nobody');
});

test('reports other Services that lose pods, whether they can be idled, and an empty selection', async () => {
  const { metadata: _, ...headless } = webService('web');
  const metadata = { name: 'members' };
  const spec = { ...headless.spec, clusterIP: 'None' };
  await space.create('services', { ...headless, metadata, spec });
  const dry = await causeway('idle', 'web', '--dry-run');
  expect(dry).toMatchObject({ code: 0 });
  expect(dry.stderr).toContain(
    'Service shop/members is served by the same pods and will have none',
  );
  expect(dry.stderr).not.toContain('idle that Service too');
  const none = await causeway('idle', '--selector', 'tier=none');
  expect(none).toMatchObject({ code: 0, stdout: '' });
  expect(none.stderr).toContain('no Service is chosen');
});
