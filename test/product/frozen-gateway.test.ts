import fs from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpAgentClient } from '../../packages/causeway/src/gateway/protocol/agent-client.ts';
import { KubeClient } from '../../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../../packages/kubernetes/src/client/connection.ts';
import type { Service } from '../../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../../packages/kubernetes/src/client/http-transport.ts';
import { services } from '../../packages/kubernetes/src/objects/resources.ts';
import { systemClock } from '../../packages/base/src/time/clock.ts';
import {
  startEmbeddedKubernetes,
  type EmbeddedKubernetes,
} from '../../packages/fake-kubernetes/src/start.ts';
import { removeDirectory, scratchDirectory } from '../services/scratch.ts';
import { logTail, startServiceProcess, type ServiceProcess } from '../services/service-process.ts';
import { waitFor } from '../services/wait-for.ts';

/** Without the launcher, so that signals reach the process itself. */
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
const secret = Buffer.from('a secret that only tests share');
const { signal } = new AbortController();
let directory = '';
let kubernetes: EmbeddedKubernetes;
let client: KubeClient;
const started: ServiceProcess[] = [];

beforeAll(async () => {
  directory = await scratchDirectory('frozen-gateway');
  kubernetes = await startEmbeddedKubernetes();
  const kubeconfig = path.join(directory, 'kubeconfig');
  await fs.writeFile(kubeconfig, kubernetes.kubeconfig);
  await fs.writeFile(path.join(directory, 'secret'), secret.toString('base64'));
  const connection = await findConnection({ kubeconfig, env: {}, clock: systemClock });
  const transport = new HttpTransport(connection, systemClock);
  client = new KubeClient({ transport, clock: systemClock });
});

afterAll(async () => {
  await Promise.all(
    started.map((each) => {
      each.kill('SIGKILL');
      return each.exited;
    }),
  );
  await client?.close();
  await kubernetes?.stop();
  await removeDirectory(directory);
});

const logOf = (name: string) => path.join(directory, `${name}.log`);

async function start(name: string, words: readonly string[], settings: object) {
  const file = path.join(directory, `${name}.yaml`);
  await fs.writeFile(file, JSON.stringify(settings));
  const child = startServiceProcess(process.execPath, [main, ...words, '-c', file], {
    logFile: logOf(name),
  });
  started.push(child);
  return child;
}

/** A real agent in a process of its own, with a kernel in memory. */
async function startAgent(name: string) {
  const child = await start(name, ['agent', 'run'], {
    name,
    listen: { address: '127.0.0.1', port: 0 },
    metrics: { address: '127.0.0.1', port: 0 },
    stateDirectory: path.join(directory, name, 'state'),
    runtimeDirectory: path.join(directory, name, 'run'),
    secretsFile: path.join(directory, 'secret'),
    nftables: { driver: 'memory' },
    addresses: { mover: 'played', playedWith: directory },
    probe: { intervalMs: 0 },
  });
  const url = await waitFor(`${name} to listen`, async () => {
    const log = await fs.readFile(logOf(name), 'utf8');
    return /"url":"([^"]+)"/.exec(log)?.[1];
  });
  const agent = new HttpAgentClient({ url, name, secret, clock: systemClock, limitMs: 10_000 });
  return { name, url, child, agent };
}

type Agent = Awaited<ReturnType<typeof startAgent>>;

const startController = (agents: readonly Agent[]) =>
  start('controller', ['controller'], {
    kubeconfig: path.join(directory, 'kubeconfig'),
    defaultProvider: 'gateway',
    leaderElection: { enabled: false },
    observe: { port: 0 },
    gateway: {
      enabled: true,
      layer: 'Pod',
      portManager: 'static',
      addresses: ['192.0.2.1-192.0.2.60'],
      agents: agents.map(({ name, url }) => ({ name, url })),
      secretFile: path.join(directory, 'secret'),
    },
  });

const group = (name: string) => Array.from({ length: 25 }, (_, index) => `${name}${index}`);
const oldNames = group('old');
const newNames = group('new');

async function create(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const spec = { type: 'LoadBalancer' as const, ports: [{ port: 80 }] };
    await client.create(services, { metadata: { namespace: 'default', name }, spec });
  }
}

const served = ({ status }: Service) =>
  status?.conditions?.some(({ status: is }) => is === 'True') === true;

/** The addresses of these Services, once all of them say that they are served. */
async function addressesOf(names: readonly string[]): Promise<string[]> {
  return waitFor(`${names.length} Services to be served`, async () => {
    const found: Service[] = [];
    for await (const each of client.list(services, { namespace: 'default' })) found.push(each);
    const own = found.filter((each) => names.includes(each.metadata?.name ?? '') && served(each));
    if (own.length < names.length)
      throw new Error(`${own.length}: ${logTail(logOf('controller'))}`);
    return own.flatMap((each) => each.status?.loadBalancer?.ingress?.[0]?.ip ?? []).sort();
  });
}

async function addressesServedBy({ agent }: Agent): Promise<string[]> {
  return (await agent.counters(signal)).map(({ address }) => address).sort();
}

async function untilServes(agent: Agent, addresses: readonly string[]): Promise<void> {
  await waitFor(`${agent.name} to serve exactly ${addresses.length} Services`, async () => {
    const found = await addressesServedBy(agent);
    if (found.join() !== addresses.join()) throw new Error(`it serves ${found.join()}`);
    return true;
  });
}

test('a gateway that was stopped while 25 Services were replaced, and the controller killed, serves the new ones alone', async () => {
  const agents = [await startAgent('g1'), await startAgent('g2')] as const;
  const [stopped, running] = agents;
  const controller = await startController(agents);
  await create(oldNames);
  const before = await addressesOf(oldNames);
  await untilServes(stopped, before);

  stopped.child.kill('SIGSTOP');
  // An update waits in the socket of the stopped agent, without any removal, so none gets there early.
  await create(['extra']);
  const [extra = ''] = await addressesOf(['extra']);
  await untilServes(running, [...before, extra].sort());
  for (const name of oldNames) await client.delete(services, { namespace: 'default', name });
  await waitFor('the old Services to be gone', async () => {
    for await (const { metadata } of client.list(services, { namespace: 'default' })) {
      if (metadata?.name?.startsWith('old') === true) return false;
    }
    return true;
  });
  await create(newNames);
  const after = await addressesOf([...newNames, 'extra']);
  await untilServes(running, after);

  controller.kill('SIGKILL');
  await controller.exited;
  stopped.child.kill('SIGCONT');
  expect(await addressesServedBy(stopped)).toEqual(expect.arrayContaining(before));
  await startController(agents);
  await untilServes(stopped, after);
  await untilServes(running, after);
  expect(await stopped.agent.status(signal)).toMatchObject({ older: [] });
  expect(await addressesOf([...newNames, 'extra'])).toEqual(after);
});
