import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { stringify } from 'yaml';
import { freePort } from '../test/services/free-port.ts';
import { removeDirectory, scratchDirectory } from '../test/services/scratch.ts';
import { waitFor } from '../test/services/wait-for.ts';
import type { BenchmarkSuite } from './benchmark.ts';
import { compileProgram } from './compiled-program.ts';
import { Surroundings } from './gateway-load.ts';

const count = 10_000;
const megabyte = 1_000_000;
const reconciles = 10;

/**
 * The controller, compiled as released, with 10,000 Services and a gateway that keeps its rules in memory.
 */
export const suite: BenchmarkSuite<'controller-resident'> = {
  name: 'controller-memory',
  long: true,
  bars: {
    'controller-resident': { of: 'value', comparison: 'at most', limit: 250, unit: 'MB' },
  },
  async run() {
    const surroundings = await Surroundings.start(0);
    const directory = await scratchDirectory('bench-memory');
    try {
      await surroundings.serve('most', count);
      const value = await measure(surroundings, directory);
      return { 'controller-resident': { value, baseline: null } };
    } finally {
      await surroundings.stop();
      await removeDirectory(directory);
    }
  },
};

async function measure({ place }: Surroundings, directory: string): Promise<number> {
  const write = async (name: string, text: string) => {
    const file = path.join(directory, name);
    await fs.writeFile(file, text, { mode: 0o600 });
    return file;
  };
  const secretFile = await write(
    'secret',
    Buffer.from('a secret of enough bytes').toString('base64'),
  );
  const [agentPort, agentMetrics, metrics] = [await freePort(), await freePort(), await freePort()];
  const address = '127.0.0.1';
  const agent = await write(
    'agent.yaml',
    JSON.stringify({
      name: 'gateway-a',
      listen: { address, port: agentPort },
      metrics: { address, port: agentMetrics },
      stateDirectory: path.join(directory, 'state'),
      runtimeDirectory: path.join(directory, 'run'),
      secretsFile: secretFile,
      nftables: { driver: 'memory' },
      addresses: { mover: 'foreign' },
      probe: { intervalMs: 0 },
    }),
  );
  const clouds = await write('clouds.yaml', cloudsFile(place));
  const controller = await write(
    'controller.yaml',
    JSON.stringify({
      clusterId: place.clusterId,
      defaultProvider: 'gateway',
      kubeconfig: await write('kubeconfig', place.kubeconfig),
      cloud: 'bench',
      observe: { address, port: metrics },
      gateway: {
        enabled: true,
        portManager: 'openstack',
        layer: 'ClusterIP',
        subnets: [place.subnet],
        floatingNetwork: place.floatingNetwork,
        agents: [{ name: 'gateway-a', url: `http://${address}:${agentPort}` }],
        secretFile,
      },
    }),
  );
  const program = await compileProgram(directory);
  const stops = [
    start([program, 'agent', 'run', '-c', agent]),
    start([program, 'controller', '-c', controller], clouds),
  ];
  try {
    await waitFor('the gateway to serve everything', async () => {
      const served = await metric(agentMetrics, 'causeway_agent_endpoints');
      return served === count;
    });
    const seen: number[] = [];
    for (let reconcile = 0; reconcile < reconciles; reconcile += 1) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      seen.push((await metric(metrics, 'causeway_resident_memory_bytes')) ?? 0);
    }
    return Math.max(...seen) / megabyte;
  } finally {
    await Promise.all(stops.map((stop) => stop()));
  }
}

function start(words: readonly string[], clouds?: string): () => Promise<void> {
  const child = spawn(process.execPath, words, {
    stdio: ['ignore', 'ignore', 'ignore'],
    env: { ...process.env, ...(clouds === undefined ? {} : { OS_CLIENT_CONFIG_FILE: clouds }) },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}

async function metric(port: number, name: string): Promise<number | undefined> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const line = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text);
  return line === null ? undefined : Number(line[1]);
}

function cloudsFile({ authUrl, region }: Surroundings['place']): string {
  const auth = {
    auth_url: authUrl,
    username: 'demo',
    password: 'demo',
    user_domain_name: 'Default',
    project_name: 'demo',
    project_domain_name: 'Default',
  };
  return stringify({ clouds: { bench: { auth, region_name: region } } });
}
