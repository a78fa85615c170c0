import { Node, NodeProxy, webService, webSlices, type Result } from '../test/kernel/idling/node.ts';
import { canUseNamespaces } from '../test/services/namespaces.ts';
import { waitFor } from '../test/services/wait-for.ts';
import { compare, percentile, type BenchmarkSuite, type Measurement } from './benchmark.ts';

const repeats = 5;
const clients = 1_000;
const crowd = 10_000;
const megabyte = 1024 * 1024;

const now = () => performance.timeOrigin + performance.now();

/** A node with a proxy, and a pod that answers. */
class Bench {
  readonly node: Node;
  readonly proxy: NodeProxy;

  private constructor(node: Node, proxy: NodeProxy) {
    this.node = node;
    this.proxy = proxy;
  }

  static async create(): Promise<Bench> {
    const node = await Node.create();
    await node.startPod();
    return new Bench(node, await NodeProxy.start(node));
  }

  sleep = () => this.proxy.apply(webService(true), webSlices(false));
  wake = () => this.proxy.apply(webService(true), webSlices(true));

  /** This many clients connect while it is idle; resolves when all of them wait. */
  async hold(count: number): Promise<{ readonly result: Promise<Result> }> {
    await this.sleep();
    const { result } = await this.node.clients(this.node.clientPod, { count, limitMs: 120_000 });
    await waitFor('all to wait', () => this.proxy.holder.waiting('shop/web') >= count, {
      timeoutMs: 60_000,
    });
    return { result };
  }

  async remove(): Promise<void> {
    await this.proxy.stop();
    await this.node.remove();
  }
}

function firstByteP99(result: Result, since: number, count: number): number {
  if (result.served !== count) {
    throw new Error(`${result.served} of ${count} were served: ${JSON.stringify(result.errors)}`);
  }
  return percentile(
    result.times.map((time) => time - since),
    0.99,
  );
}

/** From ready to the first byte of the slowest of a thousand, compared with as many that connect at once. */
function firstByte(bench: Bench): Promise<Measurement> {
  const held = async () => {
    const { result } = await bench.hold(clients);
    const ready = now();
    await bench.wake();
    return firstByteP99(await result, ready, clients);
  };
  const direct = async () => {
    await bench.wake();
    const { result } = await bench.node.clients(bench.node.clientPod, { count: clients });
    const answer = await result;
    return firstByteP99(answer, answer.began, clients);
  };
  return compare(repeats, held, direct);
}

async function memory(bench: Bench): Promise<Measurement> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  const { result } = await bench.hold(crowd);
  globalThis.gc?.();
  const value = (process.memoryUsage().rss - before) / megabyte;
  const ready = now();
  await bench.wake();
  firstByteP99(await result, ready, crowd);
  return { value, baseline: null };
}

type Figure = 'first-byte-after-ready' | 'first-byte-after-crowd' | 'held-memory';

export const suite: BenchmarkSuite<Figure> = {
  name: 'idling',
  bars: {
    'first-byte-after-ready': { of: 'ratio', comparison: 'at most', limit: 1.25, unit: 'ms' },
    'first-byte-after-crowd': { of: 'ratio', comparison: 'at most', limit: 1.25, unit: 'ms' },
    'held-memory': { of: 'value', comparison: 'at most', limit: 100, unit: 'MB' },
  },
  async run() {
    if (!canUseNamespaces()) throw new Error('the figures of idling need root');
    // Memory first, before other measurements leave free space in the heap. Leftovers of many clients, above
    // all in the conntrack table, must not affect the next measurement.
    const [held, afterCrowd] = await onNodeOfItsOwn(
      async (bench) => [await memory(bench), await firstByte(bench)] as const,
    );
    return {
      'first-byte-after-ready': await onNodeOfItsOwn(firstByte),
      'first-byte-after-crowd': afterCrowd,
      'held-memory': held,
    };
  },
};

async function onNodeOfItsOwn<T>(measure: (bench: Bench) => Promise<T>): Promise<T> {
  const bench = await Bench.create();
  try {
    return await measure(bench);
  } finally {
    await bench.remove();
  }
}
