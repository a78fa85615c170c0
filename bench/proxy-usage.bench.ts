import { RealCluster } from '../test/services/real-cluster/real-cluster.ts';
import { waitFor } from '../test/services/wait-for.ts';
import { median, type BenchmarkSuite } from './benchmark.ts';
import { ManyServices } from './many-services.ts';
import type { Usage } from './process-usage.ts';
import { withApi } from './real-cluster-load.ts';
import { KubeProxies, OurProxies, type NodeProxies } from './real-cluster-proxies.ts';

/** CAUSEWAY_BENCH_SERVICES and CAUSEWAY_BENCH_SECONDS shorten a trial run. */
const serviceCount = Number(process.env['CAUSEWAY_BENCH_SERVICES'] ?? 5_000);
const seconds = Number(process.env['CAUSEWAY_BENCH_SECONDS'] ?? 300);
const changesPerSecond = 10;
/** Memory is read between intervals of this length. */
const stretchSeconds = 5;
/** A process that uses less than this in a second is idle. */
const restingMs = 50;

/** Of the node with the most expensive proxy. */
interface Cost {
  readonly cpuMs: number;
  readonly residentMb: number;
}

async function measure(proxies: NodeProxies, many: ManyServices): Promise<Cost> {
  await proxies.start();
  const begin = await untilResting(proxies);
  const seen: Usage[][] = [];
  for (let past = 0; past < seconds; past += stretchSeconds) {
    await many.change(changesPerSecond, stretchSeconds);
    seen.push(await proxies.usage());
  }
  const end = await untilResting(proxies);
  await proxies.stop();
  const used = end.map(({ cpuMs }, at) => cpuMs - (begin[at]?.cpuMs ?? 0));
  const resident = end.map((_, at) => median(seen.map((usages) => usages[at]?.residentMb ?? 0)));
  console.log(`  ${proxies.kind}: ${JSON.stringify({ used, resident, begin, end })}`);
  return { cpuMs: Math.max(...used), residentMb: Math.max(...resident) };
}

/** The one-time cost of rules for existing objects is not measured. */
async function untilResting(proxies: NodeProxies): Promise<Usage[]> {
  let last: Usage[] | undefined;
  return waitFor(
    'the proxies to be idle',
    async () => {
      const before = last;
      const now = await proxies.usage();
      last = now;
      const hasRested = ({ cpuMs }: Usage, at: number) =>
        cpuMs - (before?.[at]?.cpuMs ?? Number.NEGATIVE_INFINITY) < restingMs;
      return now.every(hasRested) ? now : undefined;
    },
    { intervalMs: 1_000 },
  );
}

type Figure = 'proxy-cpu-under-changes' | 'proxy-memory-under-changes';

export const suite: BenchmarkSuite<Figure> = {
  name: 'proxy-usage',
  long: true,
  bars: {
    'proxy-cpu-under-changes': { of: 'ratio', comparison: 'at most', limit: 1, unit: 'ms' },
    'proxy-memory-under-changes': { of: 'ratio', comparison: 'at most', limit: 1, unit: 'MB' },
  },
  async run() {
    await OurProxies.compile();
    const cluster = await RealCluster.start({ kubeProxy: false });
    try {
      return await withApi(cluster, async (client) => {
        const many = new ManyServices(client, serviceCount);
        await many.create();
        const theirs = await measure(new KubeProxies(cluster), many);
        const ours = await measure(new OurProxies(cluster), many);
        return {
          'proxy-cpu-under-changes': { value: ours.cpuMs, baseline: theirs.cpuMs },
          'proxy-memory-under-changes': { value: ours.residentMb, baseline: theirs.residentMb },
        };
      });
    } finally {
      await cluster.stop();
    }
  },
};
