import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { IpamClient } from '../packages/causeway/src/ipam/api/client.ts';
import { EtcdLedger } from '../packages/causeway/src/ipam/etcd-ledger.ts';
import { createOperator } from '../packages/causeway/src/ipam/init.ts';
import { seededRandom } from '../packages/base/src/simulation/random.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { startEtcdCluster } from '../test/services/etcd-cluster.ts';
import { startIpamServer } from '../test/services/ipam-server.ts';
import { percentile, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import { never, prepareSite, runAllocator } from './ipam-load.ts';

const clusters = 1_000;
const seconds = 20;
/**
 * A cluster's heartbeats, and how often it creates or deletes a load balancer: busier than any known cluster.
 */
const heartbeatEveryMs = 10_000;
const changeEveryMs = 20_000;

type Figure = 'ipam-1000-clusters-reserve-p99' | 'ipam-1000-clusters-heartbeat-p99';
const milliseconds = (limit: number) =>
  ({ of: 'value', comparison: 'at most', limit, unit: 'ms' }) as const;

/** Latency of one server on one etcd for a thousand clusters: 100 heartbeats and 100 calls a second. */
export const suite: BenchmarkSuite<Figure> = {
  name: 'ipam-clusters',
  bars: {
    'ipam-1000-clusters-reserve-p99': milliseconds(2_000),
    'ipam-1000-clusters-heartbeat-p99': milliseconds(2_000),
  },
  async run() {
    const directory = await fs.mkdtemp(path.join(os.tmpdir(), 'causeway-bench-ipam-'));
    const etcd = await startEtcdCluster({ members: 1, fsync: true });
    const root = '/causeway/ipam/';
    const ledger = new EtcdLedger({ endpoints: etcd.endpoints, root, clock: systemClock });
    const token = await createOperator(ledger, 'bench', Date.now(), never);
    const running = await runAllocator(ledger);
    await prepareSite(running.allocator, clusters);
    await running.stop();
    await ledger.close();
    const args = ['--ledger', `etcd:${etcd.endpoints.join(',')}`];
    const server = await startIpamServer(directory, 'server', args);
    try {
      return await measure(server.url, token);
    } finally {
      await server.process.stop();
      await etcd.stop();
      await fs.rm(directory, { recursive: true });
    }
  },
};

async function measure(url: string, token: string): Promise<Record<Figure, Measurement>> {
  const client = new IpamClient({
    urls: [url],
    token: () => Promise.resolve(token),
    clock: systemClock,
  });
  const reserves: number[] = [];
  const beats: number[] = [];
  const end = performance.now() + seconds * 1_000;
  const timed = async (into: number[], call: () => Promise<unknown>) => {
    const started = performance.now();
    await call();
    into.push(performance.now() - started);
  };
  /** At random moments around the interval, so that the clusters are not synchronized. */
  const every = async (intervalMs: number, seed: number, call: () => Promise<unknown>) => {
    const random = seededRandom(seed);
    await delay(random() * intervalMs);
    while (performance.now() < end) {
      await call();
      await delay(intervalMs * (0.5 + random()));
    }
  };
  await Promise.all(
    Array.from({ length: clusters }, async (_, index) => {
      const params = { site: 'bench', cluster: `c${index}` };
      await Promise.all([
        every(heartbeatEveryMs, index, () =>
          timed(beats, () => client.call('heartbeat', { params }, never)),
        ),
        every(changeEveryMs, clusters + index, async () => {
          const body = { uid: 'service' };
          await timed(reserves, () => client.call('reserve', { params, body }, never));
          await client.call('free', { params: { ...params, uid: 'service' } }, never);
        }),
      ]);
    }),
  );
  await client.close();
  return {
    'ipam-1000-clusters-reserve-p99': { value: percentile(reserves, 0.99), baseline: null },
    'ipam-1000-clusters-heartbeat-p99': { value: percentile(beats, 0.99), baseline: null },
  };
}
