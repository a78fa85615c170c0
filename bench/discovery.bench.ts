import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { compare, type BenchmarkSuite } from './benchmark.ts';
import type { CloudReply, ClusterReply, WorkReply } from './discovery-process.ts';

const projects = 4_000;
const balancers = 2 * projects;
const latencyMs = 5;
/** Timeout for reading one project. */
const projectSeconds = 5;

interface Process<Reply> {
  ask(command?: object): Promise<Reply>;
  stop(): void;
}

async function start<Reply>(role: string, options: object): Promise<Process<Reply>> {
  const script = path.join(import.meta.dirname, 'discovery-process.ts');
  const child = fork(script, [role, JSON.stringify(options)]);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${role} has ended`);
  });
  ended.catch(() => undefined);
  const message = async () => {
    const [reply] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
    return reply;
  };
  await message();
  return {
    async ask(command = {}) {
      child.send(command);
      return (await message()) as Reply;
    },
    stop: () => child.disconnect(),
  };
}

async function measure(directory: string) {
  const kubeconfig = path.join(directory, 'kubeconfig');
  const cloud = await start<CloudReply>('cloud', { projects });
  const cluster = await start<ClusterReply>('cluster', { kubeconfig });
  const { authUrl, url } = await cloud.ask();
  const script = await start<WorkReply>('script', { authUrl, url });
  const discoverer = await start<WorkReply>('discoverer', { authUrl, kubeconfig, projectSeconds });
  const stop = () => {
    for (const one of [cloud, cluster, script, discoverer]) one.stop();
  };
  try {
    const first = await discoverer.ask();
    expectAll(first, balancers);
    await script.ask();
    // The watch delivers all writes before anything is measured.
    while ((await discoverer.ask()).summary['written'] !== 0);
    await cloud.ask({ latencyMs });
    await cluster.ask();
    let requests: CloudReply['requests'] = {};
    let peak = 0;
    const duration = await compare(
      3,
      async () => {
        await cloud.ask();
        const cycle = await discoverer.ask();
        expectAll(cycle, balancers);
        requests = (await cloud.ask()).requests;
        peak = cycle.peak;
        return cycle.milliseconds;
      },
      async () => (await script.ask()).milliseconds,
    );
    const { writes } = await cluster.ask();
    const slow = await compare(
      3,
      async () => {
        await cloud.ask({ hang: true });
        const cycle = await discoverer.ask();
        if (cycle.summary['failed'] !== 1) throw new Error('the slow project did not fail');
        await cloud.ask({ hang: false, latencyMs });
        return cycle.milliseconds;
      },
      async () => (await discoverer.ask()).milliseconds,
    );
    return { duration, requests, peak, writes, delay: slow.value - (slow.baseline ?? 0) };
  } finally {
    stop();
  }
}

function expectAll({ summary }: WorkReply, replicated: number): void {
  if (summary['replicated'] === replicated && summary['failed'] === 0) return;
  throw new Error(`not all was replicated: ${JSON.stringify(summary)}`);
}

export const suite: BenchmarkSuite<
  | 'discovery-cycle'
  | 'discovery-requests'
  | 'discovery-writes'
  | 'discovery-memory'
  | 'discovery-slow-project'
> = {
  name: 'discovery',
  long: true,
  bars: {
    // 4,000 projects with 2 load balancers each, 5 ms a request, 16 at once; nothing changes.
    'discovery-cycle': { of: 'ratio', comparison: 'at most', limit: 2, unit: 'ms' },
    // Three lists for each project, one for each pool, and the list of projects.
    'discovery-requests': {
      of: 'value',
      comparison: 'at most',
      limit: 3 * projects + balancers + 1,
      unit: 'requests',
    },
    'discovery-writes': { of: 'value', comparison: 'exactly', limit: 0, unit: 'writes' },
    'discovery-memory': { of: 'value', comparison: 'at most', limit: 300, unit: 'MB' },
    // How much longer a cycle takes when one project never answers: at most its own timeout.
    'discovery-slow-project': {
      of: 'value',
      comparison: 'at most',
      limit: projectSeconds * 1000,
      unit: 'ms',
    },
  },
  async run() {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-bench-discovery-'));
    try {
      const { duration, requests, peak, writes, delay } = await measure(directory);
      const { tokens: _, ...counted } = requests;
      const total = Object.values(counted).reduce((sum, count) => sum + count, 0);
      return {
        'discovery-cycle': duration,
        'discovery-requests': { value: total, baseline: null },
        'discovery-writes': { value: writes, baseline: null },
        'discovery-memory': { value: peak, baseline: null },
        'discovery-slow-project': { value: delay, baseline: null },
      };
    } finally {
      await fs.rm(directory, { recursive: true });
    }
  },
};
