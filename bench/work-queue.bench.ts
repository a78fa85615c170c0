import { WorkQueue } from '../packages/base/src/work/work-queue.ts';
import { SimulatedClock } from '../packages/base/src/time/simulated-clock.ts';
import { systemClock } from '../packages/base/src/time/clock.ts';
import { compare, type BenchmarkSuite } from './benchmark.ts';

const keyCount = 1_000;
const rounds = 300;
const keys = Array.from({ length: keyCount }, (_, index) => `namespace/service-${index}`);

/** A Set with an array: deduplication and order, and no other guarantees of a queue. */
class BareQueue {
  readonly #known = new Set<string>();
  #items: string[] = [];
  #head = 0;

  add(key: string): void {
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.#items.push(key);
  }

  take(): string | undefined {
    const key = this.#items[this.#head];
    if (key === undefined) {
      this.#items = [];
      this.#head = 0;
      return undefined;
    }
    this.#head += 1;
    this.#known.delete(key);
    return key;
  }
}

/** Keys per second. */
function rate(add: (key: string) => void, take: () => string | undefined): Promise<number> {
  const started = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    for (const key of keys) add(key);
    while (take() !== undefined);
  }
  return Promise.resolve((keyCount * rounds) / ((performance.now() - started) / 1000));
}

function queueRate(): Promise<number> {
  const queue = new WorkQueue<string>({ clock: systemClock });
  return rate(
    (key) => queue.add(key),
    () => {
      const key = queue.tryTake();
      if (key !== undefined) queue.done(key);
      return key;
    },
  );
}

function bareRate(): Promise<number> {
  const queue = new BareQueue();
  return rate(
    (key) => queue.add(key),
    () => queue.take(),
  );
}

/** Bytes by which the heap has grown after a million retries of a thousand keys. */
async function heapAfterRetries(): Promise<number> {
  const clock = new SimulatedClock();
  const queue = new WorkQueue<string>({ clock, backoff: { baseMs: 5, maxMs: 1_000, jitter: 0 } });
  const retryAll = async () => {
    for (const key of keys) queue.addAfterFailure(key);
    await clock.advance(2_000);
    for (let key = queue.tryTake(); key !== undefined; key = queue.tryTake()) queue.done(key);
  };
  for (let round = 0; round < 300; round += 1) await retryAll();
  const before = await settledHeap();
  for (let round = 0; round < 1_000; round += 1) await retryAll();
  return (await settledHeap()) - before;
}

async function settledHeap(): Promise<number> {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('benchmarks run with --expose-gc');
  for (let index = 0; index < 5; index += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

export const suite: BenchmarkSuite<'queue throughput' | 'queue heap after 1,000,000 retries'> = {
  name: 'work-queue',
  bars: {
    'queue throughput': { of: 'ratio', comparison: 'at least', limit: 0.3, unit: 'keys/s' },
    'queue heap after 1,000,000 retries': {
      of: 'value',
      comparison: 'at most',
      limit: 1,
      unit: 'MB',
    },
  },
  async run() {
    const growth = (await heapAfterRetries()) / 1e6;
    await queueRate();
    await bareRate();
    return {
      'queue throughput': await compare(9, queueRate, bareRate),
      'queue heap after 1,000,000 retries': { value: growth, baseline: null },
    };
  },
};
