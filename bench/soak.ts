// Steady churn for a long time, and whether the controller's usage stays flat: docs/chaos.md#soak.

import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { request } from 'undici';
import { isErrorCode } from '../packages/base/src/error/causeway-error.ts';
import type { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { services } from '../packages/kubernetes/src/objects/resources.ts';
import { seededRandom } from '../packages/base/src/simulation/random.ts';
import { freePorts } from '../test/services/free-port.ts';
import { logTail, startServiceProcess } from '../test/services/service-process.ts';
import { judgeFlat, type Sample } from './flat.ts';
import { Surroundings } from './gateway-load.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    services: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
  },
});
const [minutes, count, rate] = [values.minutes, values.services, values.rate].map(Number) as [
  number,
  number,
  number,
];
const everyMs = Math.min(10_000, (minutes * 60_000) / 60);
const root = path.join(import.meta.dirname, '..');
const main = path.join(root, 'packages', 'causeway', 'src', 'cli', 'main.ts');
const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-soak-'));
const file = (name: string) => path.join(directory, name);
const ends: (() => Promise<unknown>)[] = [() => fs.rm(directory, { recursive: true })];
/** Aborts when a process has ended unexpectedly. */
const failed = new AbortController();
const shown = ['heap', 'rss', 'handles', 'timers', 'queue'] as const;
/** An increase of a count up to this can't be distinguished from noise. */
const slack = { heap: 0, rss: 0, handles: 5, timers: 5, queue: 20 } as const;
const series: Record<(typeof shown)[number], Sample[]> = {
  heap: [],
  rss: [],
  handles: [],
  timers: [],
  queue: [],
};

try {
  process.exitCode = (await soak()) ? 0 : 1;
} finally {
  for (const end of ends.reverse()) await end();
}

async function soak(): Promise<boolean> {
  const surroundings = await Surroundings.start(0);
  ends.push(() => surroundings.stop());
  console.log(`${count} Services that are served already`);
  await surroundings.serve('soak', count);
  const observe = await startController(surroundings);
  await until('the controller to be ready', async () => {
    const { statusCode, body } = await request(`${observe}/readyz`);
    await body.dump();
    return statusCode === 200;
  });
  console.log('all of them deleted, recreated and changed once');
  await changeEach(surroundings);
  console.log(`${minutes} minutes at ${rate} changes a second`);
  const stop = new AbortController();
  const sampling = sample(observe, stop.signal);
  const done = await churn(surroundings);
  stop.abort();
  await sampling;
  console.log(`${done} changes`);
  await until('all to be served', async () => (await surroundings.served('soak')) === count);
  return report();
}

async function startController({ place }: Surroundings): Promise<string> {
  const [port = 0] = await freePorts(1);
  const secretFile = file('secret');
  await fs.writeFile(secretFile, Buffer.from('the secret of the soak').toString('base64'));
  await fs.writeFile(file('kubeconfig'), place.kubeconfig);
  const auth = {
    auth_url: place.authUrl,
    username: 'demo',
    password: 'demo',
    project_name: 'demo',
  };
  const domains = { user_domain_name: 'Default', project_domain_name: 'Default' };
  const demo = { region_name: place.region, auth: { ...auth, ...domains } };
  await fs.writeFile(file('clouds.yaml'), JSON.stringify({ clouds: { demo } }));
  const agents = [];
  for (const name of ['g1', 'g2']) agents.push({ name, url: await startAgent(name) });
  const { subnet, floatingNetwork, floatingSubnet, clusterId } = place;
  const config = {
    clusterId,
    cloud: 'demo',
    kubeconfig: file('kubeconfig'),
    defaultProvider: 'gateway',
    // On an overloaded machine a lease is lost, the process ends as it should, and so would the run.
    leaderElection: { enabled: false },
    observe: { port },
    log: { level: 'warn', format: 'text' },
    gateway: {
      enabled: true,
      layer: 'ClusterIP',
      portManager: 'openstack',
      subnets: [subnet],
      floatingNetwork,
      floatingSubnet,
      secretFile,
      agents,
    },
  };
  await fs.writeFile(file('controller.yaml'), JSON.stringify(config));
  const probe = path.join(import.meta.dirname, 'soak-probe.js');
  const words = ['--expose-gc', '--import', probe, main, 'controller', '--config'];
  const env = {
    OS_CLIENT_CONFIG_FILE: file('clouds.yaml'),
    KUBECONFIG: '',
    SOAK_SAMPLES: file('samples'),
    SOAK_EVERY_MS: String(everyMs),
  };
  start('controller', [...words, file('controller.yaml')], env);
  return `http://127.0.0.1:${port}`;
}

/** An agent that keeps its rules in memory. */
async function startAgent(name: string): Promise<string> {
  const [port = 0, metricsPort = 0] = await freePorts(2);
  const listen = (at: number) => ({ address: '127.0.0.1', port: at });
  const config = {
    name,
    stateDirectory: file(`${name}-state`),
    runtimeDirectory: file(`${name}-run`),
    secretsFile: file('secret'),
    seedFile: file('secret'),
    listen: listen(port),
    metrics: listen(metricsPort),
    log: { level: 'warn', format: 'text' },
    nftables: { driver: 'memory' },
    addresses: { mover: 'simulated', simulatedWith: directory },
    probe: { intervalMs: 0 },
  };
  await fs.writeFile(file(`${name}.yaml`), JSON.stringify(config));
  start(name, [main, 'agent', 'run', '--config', file(`${name}.yaml`)], {});
  return `http://127.0.0.1:${port}`;
}

function start(
  name: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): void {
  const child = startServiceProcess(process.execPath, words, { logFile: file(`${name}.log`), env });
  let isOver = false;
  ends.push(() => {
    isOver = true;
    return child.stop();
  });
  void child.exited.then(() => {
    if (isOver) return;
    console.log(`${name} has ended:\n${logTail(file(`${name}.log`))}`);
    failed.abort();
  });
}

/**
 * A Service that the controller has created and changed takes more of its memory than one that it found
 * served. The measurement begins when all are alike; otherwise it would show how many are not yet.
 */
async function changeEach(surroundings: Surroundings): Promise<void> {
  const { client } = surroundings;
  const namespaces = Array.from({ length: count }, (_, at) => `soak-${at}`);
  const work = async () => {
    for (let namespace = namespaces.pop(); namespace !== undefined; namespace = namespaces.pop()) {
      if (failed.signal.aborted) return;
      const at = { namespace, name: 'web' };
      await client.delete(services, at);
      await until('a Service to be deleted', () => create(client, namespace));
      await client.patchMerge(services, at, { spec: { ports: [{ port: 81, protocol: 'TCP' }] } });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  await until('all to be served', async () => (await surroundings.served('soak')) === count);
}

/** False: the previous one is still being deleted. */
async function create(client: KubeClient, namespace: string): Promise<boolean> {
  const spec = {
    type: 'LoadBalancer' as const,
    allocateLoadBalancerNodePorts: false,
    ports: [{ port: 80 }],
  };
  try {
    await client.create(services, { metadata: { namespace, name: 'web' }, spec });
    return true;
  } catch (error) {
    if (!isErrorCode(error, 'conflict')) throw error;
    return false;
  }
}

/** Ports change, Services are deleted, and recreated in the same namespace. Returns the number of changes. */
async function churn({ client }: Surroundings): Promise<number> {
  const random = seededRandom(Number(values.seed));
  const gone: string[] = [];
  const end = performance.now() + minutes * 60_000;
  let done = 0;
  const change = async () => {
    const choice = random();
    const namespace = `soak-${Math.floor(random() * count)}`;
    const at = { namespace, name: 'web' };
    const back = gone.length > 0 && choice < 0.3 ? gone.shift() : undefined;
    if (back !== undefined) await recreate(back);
    else if (gone.includes(namespace)) return;
    else if (choice < 0.6) {
      gone.push(namespace);
      await client.delete(services, at);
    } else {
      const ports = [{ port: 80 + Math.floor(random() * 8), protocol: 'TCP' }];
      await client.patchMerge(services, at, { spec: { ports } });
    }
    done += 1;
  };
  const recreate = async (namespace: string) => {
    if (!(await create(client, namespace))) gone.push(namespace);
  };
  while (performance.now() < end && !failed.signal.aborted) {
    await change();
    await delay(1000 / rate);
  }
  while (gone.length > 0) {
    const namespace = gone.shift();
    if (namespace !== undefined) await recreate(namespace);
    await delay(20);
  }
  return done;
}

async function sample(observe: string, signal: AbortSignal): Promise<void> {
  const beganAt = performance.now();
  let read = 0;
  while (!signal.aborted) {
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
    const seconds = (performance.now() - beganAt) / 1000;
    const text = await fs.readFile(file('samples'), 'utf8').catch(() => '');
    const lines = text.split('\n').slice(0, -1);
    for (const line of lines.slice(read)) {
      const values = JSON.parse(line) as Record<'heap' | 'rss' | 'handles' | 'timers', number>;
      for (const [name, value] of Object.entries(values))
        series[name as keyof typeof values].push({ seconds, value });
    }
    read = lines.length;
    const depth = await queueDepth(observe).catch(() => undefined);
    if (depth !== undefined) series.queue.push({ seconds, value: depth });
  }
}

async function queueDepth(observe: string): Promise<number> {
  const { body } = await request(`${observe}/metrics`);
  const depths = (await body.text()).matchAll(/^causeway_queue_depth\S* (\S+)$/gm);
  return [...depths].reduce((sum, [, depth]) => sum + Number(depth), 0);
}

function report(): boolean {
  console.log('\n| | mean | growth | allowed | |\n|---|---|---|---|---|');
  const verdicts = shown.map((name) => {
    const { mean, growth, allowed, isFlat } = judgeFlat(series[name], slack[name]);
    const isMemory = name === 'heap' || name === 'rss';
    const text = (value: number) =>
      isMemory ? `${(value / 1e6).toFixed(1)} MB` : value.toFixed(1);
    const cells = [name, text(mean), text(growth), text(allowed), isFlat ? 'flat' : 'GROWS'];
    console.log(`| ${cells.join(' | ')} |`);
    return isFlat;
  });
  return !failed.signal.aborted && !verdicts.includes(false);
}

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 600_000;
  while (!(await condition().catch(() => false))) {
    if (failed.signal.aborted || performance.now() > end)
      throw new Error(`timed out waiting for ${what}`);
    await delay(500);
  }
}
