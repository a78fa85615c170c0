import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

interface Explained {
  readonly state: string;
  readonly causes: readonly { readonly code: string }[];
}

const launcher = path.join(import.meta.dirname, '..', '..', 'bin', 'causeway.js');
let kubernetes: EmbeddedKubernetes;
let directory = '';
let kubeconfig = '';

beforeAll(async () => {
  directory = await scratchDirectory('overview');
  kubernetes = await startEmbeddedKubernetes();
  kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  kubernetes.cluster.create('services', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80 }] },
  });
});
afterAll(async () => {
  await kubernetes.stop();
  await removeDirectory(directory);
});

const causeway = (...words: string[]) =>
  runProgram(process.execPath, [launcher, ...words], { env: { KUBECONFIG: kubeconfig } });

test('services lists those with external traffic, and all of them on request', async () => {
  const { stdout } = await causeway('services');
  expect(stdout).toContain('default/web');
  expect(stdout).toContain('not-served');
  expect(stdout).not.toContain('default/kubernetes');
  const all = await causeway('services', '--all', '-o', 'json');
  const rows = JSON.parse(all.stdout) as { key: string }[];
  expect(rows.map(({ key }) => key)).toEqual(['default/kubernetes', 'default/web']);
});

test('explain names the causes in their order, and the remedies', async () => {
  const { code, stdout } = await causeway('explain', 'web');
  expect(code).toBe(1);
  expect(stdout).toContain('default/web is not served');
  expect(stdout).toMatch(/✗ controller +No controller has run in this cluster/);
  const json = await causeway('explain', 'web', '-o', 'json');
  expect(json.code).toBe(1);
  const { state, causes } = JSON.parse(json.stdout) as Explained;
  expect(state).toBe('not-served');
  expect(causes.map(({ code: cause }) => cause)).toEqual(['no-controller', 'no-provider']);
  const missing = await causeway('explain', 'other/none');
  expect(missing.code).toBe(5);
  expect(missing.stderr).toContain('the Service other/none does not exist');
});

test('status ends with 1 while there is a problem, and names it', async () => {
  const { code, stdout } = await causeway('status');
  expect(code).toBe(1);
  expect(stdout).toContain('No controller has run in this cluster');
  expect(stdout).toContain('default/web: not-served');
  const yaml = await causeway('status', '-o', 'yaml');
  expect(yaml.code).toBe(1);
  expect(yaml.stdout).toMatch(/^isWell: false$/m);
});

test('a hung controller is the first cause everywhere', async () => {
  // Not in the default namespace: the commands find it.
  const metadata = { name: 'causeway-controller', namespace: 'default' };
  const spec = {
    holderIdentity: 'controller-1',
    leaseDurationSeconds: 15,
    renewTime: new Date(Date.now() - 90_000).toISOString().replace('Z', '000Z'),
  };
  kubernetes.cluster.create('leases.coordination.k8s.io', {
    ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec },
  });
  const hung = 'The controller controller-1 does not renew its lease';
  expect((await causeway('status')).stdout).toContain(`✗ controller   ${hung}`);
  const { stdout } = await causeway('explain', 'web');
  expect(stdout).toContain(`default/web is not served for 1 min: ${hung}`);
  expect(stdout).toMatch(/What to do:\n {2}See the log of controller-1, and restart it/);
  expect((await causeway('services', '-o', 'wide')).stdout).toContain('controller-hung');
});

test('doctor checks the machine and the connection to the cluster', async () => {
  const { stdout } = await causeway('doctor');
  expect(stdout).toMatch(/kernel +\d+\.\d+/);
  expect(stdout).toMatch(/may list services +2/);
  const lost = await causeway('doctor', '--kubeconfig', path.join(directory, 'none'), '-o', 'json');
  expect(JSON.parse(lost.stdout)).toContainEqual(
    expect.objectContaining({ check: 'may list services', kind: 'skipped' }),
  );
});

test('config validate names every error', async () => {
  const file = path.join(directory, 'controller.yaml');
  await fs.writeFile(file, 'workers: 4\n');
  const good = await causeway('config', 'validate', file, '--for', 'controller');
  expect(good.stdout).toContain('is valid for causeway controller');
  await fs.writeFile(file, 'worker: 4\ngateway: { layer: Node }\n');
  const bad = await causeway('config', 'validate', file, '--for', 'controller');
  expect(bad.code).toBe(3);
  expect(bad.stderr).toContain('worker');
  expect(bad.stderr).toContain('gateway.layer');
});
