import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request, type Dispatcher } from 'undici';
import { KubeClient } from '../packages/kubernetes/src/client/client.ts';
import { findConnection } from '../packages/kubernetes/src/client/connection.ts';
import type { Service } from '../packages/kubernetes/src/objects/core-objects.ts';
import { HttpTransport } from '../packages/kubernetes/src/client/http-transport.ts';
import { runAsLeader } from '../packages/kubernetes/src/lease/leader-election.ts';
import type { KubeList } from '../packages/kubernetes/src/objects/object.ts';
import { withSlimMetadata } from '../packages/kubernetes/src/cache/projection.ts';
import { Reflector } from '../packages/kubernetes/src/cache/reflector.ts';
import { namespaces, services } from '../packages/kubernetes/src/objects/resources.ts';
import { Store } from '../packages/kubernetes/src/cache/store.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { done, runController } from '../packages/base/src/work/controller.ts';
import { discardLog } from '../packages/base/src/observability/log.ts';
import { noMetrics } from '../packages/base/src/observability/metrics.ts';
import { WorkQueue } from '../packages/base/src/work/work-queue.ts';
import { whenAborted } from '../packages/base/src/time/when-aborted.ts';
import { LineSplitter } from '../packages/base/src/text/line-splitter.ts';
import { startKubernetes, type RealKubernetes } from '../test/services/kubernetes.ts';
import { compare, median, percentile, type BenchmarkSuite } from './benchmark.ts';

const serviceCount = 10_000;
const namespace = 'bench';
const changes = 400;

/** Common to all measurements: a real API server with many Services in it. */
interface Bench {
  readonly cluster: RealKubernetes;
  readonly client: KubeClient;
  /** A plain HTTP client for the baselines. */
  readonly bare: Dispatcher;
}

async function setUp(): Promise<Bench> {
  const cluster = await startKubernetes();
  const connection = await findConnection({
    kubeconfig: cluster.kubeconfig,
    env: {},
    clock: systemClock,
  });
  const transport = new HttpTransport(connection, systemClock);
  const client = new KubeClient({ transport, clock: systemClock });
  const bare = new Agent({ allowH2: false, connect: { ca: cluster.ca }, bodyTimeout: 0 });
  await client.create(namespaces, { metadata: { name: namespace } });
  const started = performance.now();
  const indexes = Array.from({ length: serviceCount }, (_, index) => index).values();
  const create = async () => {
    for (const index of indexes) await client.create(services, makeService(index));
  };
  await Promise.all(Array.from({ length: 16 }, create));
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`  ${serviceCount} Services created in ${seconds} s`);
  return { cluster, client, bare };
}

/** As written by a team's chart. */
function makeService(index: number): Service {
  const name = `service-${index}`;
  const labels = {
    'app.kubernetes.io/name': name,
    'app.kubernetes.io/part-of': `team-${index % 50}`,
    'app.kubernetes.io/managed-by': 'Helm',
  };
  return {
    metadata: {
      namespace,
      name,
      labels,
      annotations: { 'example.com/owner': `team-${index % 50}@example.com` },
    },
    spec: {
      // Headless, because allocating 10,000 addresses would take the server minutes.
      clusterIP: 'None',
      selector: { 'app.kubernetes.io/name': name },
      ports: [
        { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' },
        { name: 'metrics', port: 9090, targetPort: 'metrics', protocol: 'TCP' },
      ],
    },
  };
}

/** A store that follows the Services until it is stopped. */
async function follow({ client }: Bench, store: Store<Service>): Promise<() => Promise<void>> {
  const stop = new AbortController();
  const reflector = new Reflector({
    client,
    resource: services,
    store,
    projection: withSlimMetadata,
    clock: systemClock,
    log: discardLog,
    metrics: noMetrics,
  });
  const running = reflector.run(stop.signal);
  await store.synced;
  return async () => {
    stop.abort();
    await running;
  };
}

/** The server's cleanup after one measurement does not count for the next. */
function serverAtRest(): Promise<void> {
  return delay(300);
}

async function syncOnce(bench: Bench): Promise<number> {
  await serverAtRest();
  const store = new Store<Service>();
  const started = performance.now();
  const stop = await follow(bench, store);
  const elapsed = performance.now() - started;
  if (store.size < serviceCount) throw new Error(`only ${store.size} Services came`);
  await stop();
  return elapsed;
}

async function fetchPages({ cluster, bare }: Bench): Promise<number> {
  await serverAtRest();
  const started = performance.now();
  let token = '';
  let count = 0;
  const kept: unknown[] = [];
  do {
    const query = token === '' ? '' : `&continue=${encodeURIComponent(token)}`;
    const { body } = await request(`${cluster.url}/api/v1/services?limit=500${query}`, {
      dispatcher: bare,
      headers: { authorization: `Bearer ${cluster.token}`, accept: 'application/json' },
    });
    const page = JSON.parse(await body.text()) as KubeList<Service>;
    kept.push(page);
    count += page.items.length;
    token = page.metadata?.continue ?? '';
  } while (token !== '');
  const elapsed = performance.now() - started;
  if (count < serviceCount) throw new Error(`only ${count} Services came`);
  return elapsed;
}

/** The event loop's delay at the 99th percentile, in ms, while something runs. */
async function loopDelay(work: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await work();
  histogram.disable();
  return histogram.percentile(99) / 1e6;
}

async function heapOfStore(bench: Bench): Promise<number> {
  const store = new Store<Service>();
  const before = await settledHeap();
  const stop = await follow(bench, store);
  const megabytes = ((await settledHeap()) - before) / 1e6;
  await stop();
  return store.size < serviceCount ? Number.NaN : megabytes;
}

async function settledHeap(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('benchmarks run with --expose-gc');
  for (let index = 0; index < 5; index += 1) {
    await delay(20);
    gc();
  }
  return process.memoryUsage().heapUsed;
}

/** Changes Services one by one; returns the times from each request to its notification, by name. */
async function changeOneByOne(bench: Bench, arrived: Map<string, () => void>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < changes; index += 1) {
    const name = `service-${index}`;
    const notified = new Promise<void>((resolve) => arrived.set(name, resolve));
    const started = performance.now();
    const note = notified.then(() => times.push(performance.now() - started));
    const annotations = { 'example.com/touched': String(started) };
    await bench.client.patchMerge(services, { namespace, name }, { metadata: { annotations } });
    await note;
    arrived.delete(name);
  }
  return times;
}

async function latencyOfReconciler(bench: Bench): Promise<number> {
  const arrived = new Map<string, () => void>();
  const queue = new WorkQueue<string>({ clock: systemClock });
  const store = new Store<Service>();
  const unfollow = await follow(bench, store);
  const stop = new AbortController();
  const controller = runController(
    {
      name: 'bench',
      queue,
      reconcile: (key) => {
        arrived.get(key.slice(namespace.length + 1))?.();
        return Promise.resolve(done);
      },
      workers: 4,
      deadlineMs: 30_000,
      clock: systemClock,
      log: discardLog,
      metrics: noMetrics,
    },
    stop.signal,
  );
  // From now on: loaded objects are not changes.
  let isLoaded = false;
  store.onChange(({ key }) => {
    if (isLoaded) queue.add(key);
  });
  isLoaded = true;
  const times = await changeOneByOne(bench, arrived);
  stop.abort();
  await controller;
  await unfollow();
  return percentile(times, 0.99);
}

/** A client that searches each line for the name, and does nothing else. */
async function latencyOfBareWatch(bench: Bench): Promise<number> {
  const { cluster, bare } = bench;
  const arrived = new Map<string, () => void>();
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${cluster.token}`, accept: 'application/json' };
  const list = await request(`${cluster.url}/api/v1/services?limit=1`, {
    dispatcher: bare,
    headers,
  });
  const { metadata } = (await list.body.json()) as KubeList;
  const { body } = await request(
    `${cluster.url}/api/v1/services?watch=true&resourceVersion=${metadata?.resourceVersion}`,
    { dispatcher: bare, headers, signal: stop.signal },
  );
  const reading = (async () => {
    const splitter = new LineSplitter();
    for await (const chunk of body) {
      for (const line of splitter.push(chunk as Buffer)) {
        const [, name = ''] = /"name":"(service-[0-9]+)"/.exec(line) ?? [];
        arrived.get(name)?.();
      }
    }
  })().catch(() => {});
  const times = await changeOneByOne(bench, arrived);
  stop.abort();
  await reading;
  return percentile(times, 0.99);
}

/** From stopping one leader to the next one leading, the median in ms. */
async function handover({ client }: Bench): Promise<number> {
  const times: number[] = [];
  const led: (() => void)[] = [];
  const start = (identity: string) => {
    const stop = new AbortController();
    const ended = runAsLeader(
      {
        client,
        lease: { namespace, name: 'handover' },
        identity,
        clock: systemClock,
        log: discardLog,
        metrics: noMetrics,
      },
      async (_, signal) => {
        led.shift()?.();
        await whenAborted(signal);
      },
      stop.signal,
    );
    return { stop, ended };
  };
  let leads = new Promise<void>((resolve) => led.push(resolve));
  let leader = start('leader-0');
  await leads;
  for (let round = 1; round <= 10; round += 1) {
    leads = new Promise<void>((resolve) => led.push(resolve));
    const next = start(`leader-${round}`);
    await delay(500);
    const started = performance.now();
    leader.stop.abort();
    await leads;
    times.push(performance.now() - started);
    await leader.ended;
    leader = next;
  }
  leader.stop.abort();
  await leader.ended;
  return median(times);
}

const atMost = (limit: number, of: 'ratio' | 'value', unit: string) =>
  ({ of, comparison: 'at most', limit, unit }) as const;

export const suite: BenchmarkSuite<
  | 'store sync of 10,000 Services'
  | 'event loop delay p99 during store sync'
  | 'heap of 10,000 Services in a store'
  | 'change to reconciler p99'
  | 'leader handover'
> = {
  name: 'kubernetes-store',
  bars: {
    'store sync of 10,000 Services': atMost(1.5, 'ratio', 'ms'),
    'event loop delay p99 during store sync': atMost(50, 'value', 'ms'),
    'heap of 10,000 Services in a store': atMost(40, 'value', 'MB'),
    'change to reconciler p99': atMost(2, 'ratio', 'ms'),
    'leader handover': atMost(1_000, 'value', 'ms'),
  },
  async run() {
    const bench = await setUp();
    try {
      await fetchPages(bench);
      await syncOnce(bench);
      const sync = await compare(
        11,
        () => syncOnce(bench),
        () => fetchPages(bench),
      );
      const idle = await loopDelay(() => delay(2_000));
      const busy = await loopDelay(async () => {
        for (let index = 0; index < 3; index += 1) await syncOnce(bench);
      });
      const heap = await heapOfStore(bench);
      const latency = await compare(
        5,
        () => latencyOfReconciler(bench),
        () => latencyOfBareWatch(bench),
      );
      return {
        'store sync of 10,000 Services': sync,
        'event loop delay p99 during store sync': { value: busy, baseline: idle },
        'heap of 10,000 Services in a store': { value: heap, baseline: null },
        'change to reconciler p99': latency,
        'leader handover': { value: await handover(bench), baseline: null },
      };
    } finally {
      await bench.client.close();
      await bench.bare.destroy();
      await bench.cluster.stop();
    }
  },
};
