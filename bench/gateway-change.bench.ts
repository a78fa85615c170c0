// One changed EndpointSlice from the controller to the commit on a gateway, and what the clean-up of conntrack costs.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Conntrack } from '../packages/nftables/src/conntrack/conntrack.ts';
import { TestNetwork, type Host } from '../test/services/namespaces.ts';
import { besideMedian, compare, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import { deletionByProgram, fillConntrack, removedPod } from './conntrack-load.ts';
import { GatewayPath } from './gateway-path.ts';

const services = 10_000;
const connections = 100_000;
const few = 100;
const warmUps = 50;
const changes = 400;
/** More frontends than the kernel's filters are used for: the whole table is read. */
const removedAtOnce = 20;

const bars = {
  'event-to-commit': { of: 'ratio', comparison: 'at most', limit: 1.5, unit: 'ms' },
  'cleanup-cpu': { of: 'ratio', comparison: 'at most', limit: 1.5, unit: 'ms' },
  'cleanup-of-many-cpu': { of: 'ratio', comparison: 'at most', limit: 1.5, unit: 'ms' },
  'cleanup-loop-delay': { of: 'value', comparison: 'at most', limit: 50, unit: 'ms' },
  'cleanup-memory': { of: 'value', comparison: 'at most', limit: 20, unit: 'MB' },
} as const;

export const suite: BenchmarkSuite<keyof typeof bars> = {
  name: 'gateway-change',
  bars,
  async run() {
    const network = await TestNetwork.create();
    try {
      const [large, small] = [await network.host('large'), await network.host('small')];
      await fillConntrack(large, connections, services);
      await fillConntrack(small, few, few);
      return { 'event-to-commit': await eventToCommit(large, small), ...(await cleanup(large)) };
    } finally {
      await network.remove();
    }
  },
};

/** The changes alternate, so that load affects both. */
async function eventToCommit(large: Host, small: Host): Promise<Measurement> {
  const many = await GatewayPath.start(large, services);
  const one = await GatewayPath.start(small, few);
  const round = async (count: number) => {
    const [values, baselines]: [number[], number[]] = [[], []];
    for (let index = 0; index < count; index += 1) {
      baselines.push(await one.replacePod(index % few));
      values.push(await many.replacePod(index % few));
    }
    return besideMedian(values, baselines);
  };
  try {
    await round(warmUps);
    return await round(changes);
  } finally {
    await many.stop();
    await one.stop();
  }
}

/** Deletes connections of removed pods among all the others. */
async function cleanup(host: Host) {
  const conntrack = await Conntrack.open({ networkNamespace: host.path });
  let next = 0;
  const deletion = (count: number) => async () => {
    const removed = Array.from({ length: count }, () => removedPod((next += 1)));
    const before = process.cpuUsage();
    const deleted = await conntrack.deleteConnections(removed);
    if (deleted === 0) throw new Error('no connection was deleted');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  const byProgram = () => deletionByProgram(host, (next += 1));
  try {
    await deletion(1)();
    await deletion(removedAtOnce)();
    const one = await compare(5, deletion(1), byProgram);
    const many = await compare(5, deletion(removedAtOnce), byProgram);
    const delay = monitorEventLoopDelay({ resolution: 1 });
    const resident = process.memoryUsage.rss();
    delay.enable();
    for (let round = 0; round < 5; round += 1) await deletion(removedAtOnce)();
    delay.disable();
    const grown = Math.max(0, process.memoryUsage.rss() - resident) / 1_000_000;
    return {
      'cleanup-cpu': one,
      'cleanup-of-many-cpu': many,
      'cleanup-loop-delay': { value: delay.percentile(99) / 1e6, baseline: null },
      'cleanup-memory': { value: grown, baseline: null },
    };
  } finally {
    await conntrack.close();
  }
}
