import { setTimeout as delay } from 'node:timers/promises';
import { compare, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import { plainScript } from './gateway-baselines.ts';
import {
  print,
  startController,
  sum,
  Surroundings,
  until,
  workers,
  type Requests,
} from './gateway-load.ts';

const many = 1_000;
const latencyMs = 50;

type Figure = 'gateway-many-services' | 'gateway-drift-lists' | 'gateway-drift-other-calls';

/** The gateway controller with many Services, compared with simple programs that make the same calls. */
export const suite: BenchmarkSuite<Figure> = {
  name: 'gateway-controller',
  long: true,
  bars: {
    'gateway-many-services': { of: 'ratio', comparison: 'at most', limit: 2, unit: 'ms' },
    'gateway-drift-lists': { of: 'ratio', comparison: 'exactly', limit: 1, unit: 'lists' },
    'gateway-drift-other-calls': { of: 'value', comparison: 'exactly', limit: 0, unit: 'calls' },
  },
  async run() {
    const created = await manyServices();
    const drift = await findDrift();
    return {
      'gateway-many-services': created,
      'gateway-drift-lists': drift.lists,
      'gateway-drift-other-calls': { value: drift.others, baseline: null },
    };
  },
};

/** All at once, each in its own namespace; until every one is served and all gateways have acknowledged. */
async function manyServices(): Promise<Measurement> {
  let round = 0;
  const inFresh = async (work: (at: Surroundings) => Promise<number>) => {
    const surroundings = await Surroundings.start(latencyMs);
    try {
      return await work(surroundings);
    } finally {
      await surroundings.stop();
    }
  };
  let calls: Requests = {};
  const subject = () =>
    inFresh(async (surroundings) => {
      const controller = await startController(surroundings);
      await until(() => controller.agents.every(({ generation }) => generation > 0));
      await surroundings.requests();
      const started = performance.now();
      await surroundings.create('many', many);
      await until(async () => (await surroundings.served('many')) === many);
      const elapsed = performance.now() - started;
      await delay(1_000);
      calls = await surroundings.requests();
      await controller.stop();
      if (round === 0) print(calls);
      round += 1;
      return elapsed;
    });
  const baseline = () =>
    inFresh(async (surroundings) => {
      await surroundings.create('many', many);
      const started = performance.now();
      await plainScript(surroundings, many, workers, calls);
      return performance.now() - started;
    });
  // The controller's calls are known only after its first run.
  await subject();
  return compare(3, subject, baseline);
}

/** One drift detection, with few and with many Services. */
async function findDrift(): Promise<{ lists: Measurement; others: number }> {
  const few = await driftRequests(10);
  const all = await driftRequests(many);
  const lists = (requests: Requests) => sum(requests, (what) => what.includes(' GET '));
  const others = sum(all, (what) => !what.includes(' GET '));
  return { lists: { value: lists(all), baseline: lists(few) }, others };
}

async function driftRequests(count: number): Promise<Requests> {
  const surroundings = await Surroundings.start(0);
  const everyMs = 4_000;
  try {
    await surroundings.serve('drift', count);
    const controller = await startController(surroundings, everyMs);
    await until(() => controller.reconciles() >= count);
    await until(async () => sum(await surroundings.requests(), (what) => isNeutron(what)) > 0);
    // From now on only the requests of the next resync.
    await delay(everyMs / 2);
    await surroundings.requests();
    await delay(everyMs);
    const requests = await surroundings.requests();
    await controller.stop();
    print(requests);
    return Object.fromEntries(Object.entries(requests).filter(([what]) => isNeutron(what)));
  } finally {
    await surroundings.stop();
  }
}

const isNeutron = (what: string) => what.startsWith('network ');
