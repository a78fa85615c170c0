import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

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
  expect(stdout).toContain('unmatched');
  expect(stdout).not.toContain('default/kubernetes');
  const all = await causeway('services', '--all', '-o', 'json');
  const rows = JSON.parse(all.stdout) as { key: string }[];
  expect(rows.map(({ key }) => key)).toEqual(['default/kubernetes', 'default/web']);
});

test('explain names the reason for a missing address and the remedy', async () => {
  const { code, stdout } = await causeway('explain', 'web');
  expect(code).toBe(0);
  expect(stdout).toContain('No provider serves default/web');
  expect(stdout).toContain('Set spec.loadBalancerClass');
  const missing = await causeway('explain', 'other/none');
  expect(missing.code).toBe(5);
  expect(missing.stderr).toContain('the Service other/none does not exist');
});

test('status ends with 1 while there is a problem, and names it', async () => {
  const { code, stdout } = await causeway('status');
  expect(code).toBe(1);
  expect(stdout).toContain('none has run here');
  expect(stdout).toContain('default/web: It has no loadBalancerClass');
});

test('doctor checks the machine and the connection to the cluster', async () => {
  const { stdout } = await causeway('doctor');
  expect(stdout).toMatch(/kernel +\d+\.\d+/);
  expect(stdout).toMatch(/may list services +2/);
  const lost = await causeway('doctor', '--kubeconfig', path.join(directory, 'none'));
  expect(lost.stdout).toMatch(/- may list services/);
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
