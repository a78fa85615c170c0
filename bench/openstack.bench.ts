import { spawn } from 'node:child_process';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Cloud } from '../packages/openstack/src/cloud.ts';
import { openLoadBalancing } from '../packages/openstack/src/load-balancing/open.ts';
import { Secret } from '../packages/openstack/src/secret.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics } from '../packages/base/src/observability/metrics.ts';
import { percentile, type BenchmarkSuite, type Measurement } from './benchmark.ts';

const call = { signal: new AbortController().signal };

interface CannedCloud {
  readonly url: string;
  readonly cloud: Cloud;
  readonly stop: () => Promise<void>;
}

async function startCannedCloud(...args: string[]): Promise<CannedCloud> {
  const script = path.join(import.meta.dirname, 'openstack-server.ts');
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = await new Promise<string>((resolve) =>
    child.stdout.once('data', (line: Buffer) => resolve(line.toString().trim())),
  );
  const cloud = new Cloud(
    {
      name: 'bench',
      authUrl: url,
      credentials: { method: 'password', user: { id: 'u' }, password: new Secret('secret') },
      scope: { kind: 'project', project: { id: 'p' } },
      interface: 'public',
      endpoints: { 'load-balancer': url },
      tls: { verify: true },
    },
    { log: discardLog, metrics: noMetrics },
  );
  const stop = async () => {
    await cloud.close();
    child.stdin.end();
    await ended;
  };
  return { url, cloud, stop };
}

/**
 * How long the work blocks the event loop at a time: the processor time of this thread between two timer
 * callbacks. Processor time, because on a busy machine the clock also includes other processes.
 */
async function holdsOf(work: () => Promise<void>): Promise<number[]> {
  const holds: number[] = [];
  const used = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = used();
  const reconcile = () => {
    const now = used();
    holds.push(now - last);
    last = now;
    timer = setTimeout(reconcile, 1);
  };
  let timer = setTimeout(reconcile, 1);
  try {
    await work();
  } finally {
    clearTimeout(timer);
  }
  return holds;
}

/** How late timers run during the work, by the clock: what callers notice, other load included. */
async function delayOf(work: () => Promise<void>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  return histogram.percentile(99) / 1e6;
}

/** The p99 of the delay by the clock while everything is listed, compared with an idle loop. */
async function listingDelay(): Promise<Measurement> {
  const { cloud, stop } = await startCannedCloud();
  try {
    const service = await openLoadBalancing(cloud.session(), call);
    const baseline = await delayOf(() => delay(500));
    const value = await delayOf(async () => {
      await Promise.all([
        drain(service.loadBalancers({}, call)),
        drain(service.listeners({}, call)),
        drain(service.pools({}, call)),
      ]);
    });
    return { value, baseline };
  } finally {
    await stop();
  }
}

async function drain(objects: AsyncIterable<unknown>): Promise<number> {
  let seen = 0;
  for await (const object of objects) if (object !== undefined) seen += 1;
  return seen;
}

/** The p99 and the longest block, in milliseconds, while every load balancer, listener and pool is listed. */
async function listingHolds(...args: string[]): Promise<{ p99: number; longest: number }> {
  const { cloud, stop } = await startCannedCloud(...args);
  try {
    const service = await openLoadBalancing(cloud.session(), call);
    let seen = 0;
    const holds = await holdsOf(async () => {
      const counts = await Promise.all([
        drain(service.loadBalancers({}, call)),
        drain(service.listeners({}, call)),
        drain(service.pools({}, call)),
      ]);
      seen = counts.reduce((sum, count) => sum + count, 0);
    });
    if (seen !== 15_000) throw new Error(`listed ${seen} objects instead of 15000`);
    return { p99: percentile(holds, 0.99), longest: Math.max(...holds) };
  } finally {
    await stop();
  }
}

/** Number of requested tokens when 1,000 concurrent calls have an expired one. */
async function renewals(): Promise<Measurement> {
  const { url, cloud, stop } = await startCannedCloud('--count', '1');
  try {
    const service = await openLoadBalancing(cloud.session(), call);
    const tokens = async () => {
      const answer = (await (await fetch(`${url}/tokens`)).json()) as { tokens: number };
      return answer.tokens;
    };
    const before = await tokens();
    await fetch(`${url}/expire`);
    const listOnce = async () => {
      for await (const { id } of service.loadBalancers({}, call)) if (id === '') throw new Error();
    };
    await Promise.all(Array.from({ length: 1_000 }, listOnce));
    return { value: (await tokens()) - before, baseline: null };
  } finally {
    await stop();
  }
}

const atMost50 = { of: 'value', comparison: 'at most', limit: 50, unit: 'ms' } as const;

export const suite: BenchmarkSuite<
  | 'openstack-list-delay-p99'
  | 'openstack-list-hold-p99'
  | 'openstack-list-hold-longest'
  | 'openstack-unpaged-list-hold-p99'
  | 'openstack-token-renewals'
> = {
  name: 'openstack',
  bars: {
    'openstack-list-delay-p99': atMost50,
    'openstack-list-hold-p99': atMost50,
    'openstack-list-hold-longest': atMost50,
    // A service that ignores the page size answers with everything at once.
    'openstack-unpaged-list-hold-p99': atMost50,
    'openstack-token-renewals': { of: 'value', comparison: 'exactly', limit: 1, unit: 'tokens' },
  },
  async run() {
    const paged = await listingHolds();
    const unpaged = await listingHolds('--ignore-limit');
    return {
      'openstack-list-delay-p99': await listingDelay(),
      'openstack-list-hold-p99': { value: paged.p99, baseline: null },
      'openstack-list-hold-longest': { value: paged.longest, baseline: null },
      'openstack-unpaged-list-hold-p99': { value: unpaged.p99, baseline: null },
      'openstack-token-renewals': await renewals(),
    };
  },
};
