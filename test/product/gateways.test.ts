import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import {
  startEmbeddedOpenStack,
  type EmbeddedOpenStack,
} from '../../packages/fake-openstack/src/cloud.ts';
import { runProgram } from '../services/run-program.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';

const launcher = path.join(import.meta.dirname, '..', '..', 'bin', 'causeway.js');
let directory = '';
let kubernetes: EmbeddedKubernetes;
let cloud: EmbeddedOpenStack;

beforeAll(async () => {
  directory = await scratchDirectory('gateways');
  kubernetes = await startEmbeddedKubernetes();
  cloud = await startEmbeddedOpenStack();
  await fs.writeFile(path.join(directory, 'kubeconfig'), kubernetes.kubeconfig);
  await fs.writeFile(path.join(directory, 'clouds.yaml'), cloud.cloudsYaml);
  await fs.writeFile(
    path.join(directory, 'controller.yaml'),
    JSON.stringify({
      kubeconfig: path.join(directory, 'kubeconfig'),
      cloud: 'demo',
      gateway: {
        enabled: true,
        portManager: 'openstack',
        agents: [
          { name: 'gw1', url: 'https://192.0.2.1:15213' },
          { name: 'gw2', url: 'https://192.0.2.2:15213', port: 'no-such-port' },
        ],
      },
    }),
  );
});

afterAll(async () => {
  await Promise.all([kubernetes.stop(), cloud.stop()]);
  await removeDirectory(directory);
});

const gateways = (command: string, ...args: string[]) =>
  runProgram(
    process.execPath,
    [launcher, 'gateways', command, '-c', path.join(directory, 'controller.yaml'), ...args],
    { env: { ...process.env, OS_CLIENT_CONFIG_FILE: path.join(directory, 'clouds.yaml') } },
  );

test('a fence is requested, shown and removed; an unknown name is rejected', async () => {
  const unknown = await gateways('fence', 'gw7', '--reason', 'no power');
  expect(unknown.stderr).toContain('no gateway has the name "gw7"');
  expect(unknown.stderr).toContain('The gateways are gw1, gw2.');
  expect(await gateways('fence', 'gw2', '--reason', 'no power')).toMatchObject({ code: 0 });
  expect((await gateways('list')).stdout).toMatch(/gw2 .*asked for \(no power, since 20/);
  expect((await gateways('unfence', 'gw2')).stdout).toContain(
    'as soon as the gateway has acknowledged',
  );
});

test("the preflight reports problems of the gateways' ports", async () => {
  const { code, stdout } = await gateways('check');
  expect(code).toBe(1);
  expect(stdout).toMatch(/gw1 +NO +its Neutron port is not named/);
  expect(stdout).toMatch(/gw2 +NO +its Neutron port no-such-port does not exist/);
});

test('Services are handed back by name', async () => {
  const kubeconfig = path.join(directory, 'kubeconfig');
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  const client = new KubeClient({ transport, clock: systemClock });
  const spec = { type: 'LoadBalancer' as const, ports: [{ port: 80 }] };
  const { metadata } = await client.create(services, {
    metadata: { namespace: 'default', name: 'web' },
    spec,
  });
  const record = { version: 1, uid: metadata?.uid, provider: 'gateway', ingress: [] };
  const ours = { 'causeway.dev/load-balancer': JSON.stringify(record) };
  const name = { namespace: 'default', name: 'web' };
  const marks = {
    'cah-loadbalancer.k8s.cloudandheat.com/managed': 'true',
    'cah-loadbalancer.k8s.cloudandheat.com/inbound-port': 'port-1',
  };
  await client.patchMerge(services, name, { metadata: { annotations: { ...marks, ...ours } } });
  expect((await gateways('hand-back')).stdout).toContain('default/web: handed back');
  expect((await client.get(services, name)).metadata?.annotations).toEqual(marks);
  await client.close();
});
