import { setTimeout as delay } from 'node:timers/promises';
import { compare, type BenchmarkSuite, type Measurement } from './benchmark.ts';
import { listAll } from './gateway-baselines.ts';
import { startController, sum, Surroundings, until } from './gateway-load.ts';

const most = 10_000;

type Figure = 'gateway-restart-writes' | 'gateway-restart-confirmed';

/**
 * A gateway controller that starts with many Services, compared with a program that lists the same objects.
 */
export const suite: BenchmarkSuite<Figure> = {
  name: 'gateway-restart',
  long: true,
  bars: {
    'gateway-restart-writes': { of: 'value', comparison: 'exactly', limit: 0, unit: 'writes' },
    'gateway-restart-confirmed': { of: 'ratio', comparison: 'at most', limit: 3, unit: 'ms' },
  },
  async run() {
    const { writes, confirmed } = await restartWithMost();
    return {
      'gateway-restart-writes': { value: writes, baseline: null },
      'gateway-restart-confirmed': confirmed,
    };
  },
};

/** A start without work: until all gateways have acknowledged; nothing may be written. */
async function restartWithMost(): Promise<{ writes: number; confirmed: Measurement }> {
  const surroundings = await Surroundings.start(0);
  let writes = 0;
  try {
    await surroundings.serve('most', most);
    const subject = async () => {
      await surroundings.requests();
      const started = performance.now();
      const controller = await startController(surroundings);
      await until(() => controller.agents.every(({ frontends }) => frontends === most));
      const elapsed = performance.now() - started;
      await until(() => controller.reconciles() >= most);
      await delay(500);
      await controller.stop();
      const requests = await surroundings.requests();
      writes += sum(requests, (what) => /^(kubernetes|network) (POST|PUT|PATCH|DELETE)/.test(what));
      return elapsed;
    };
    const confirmed = await compare(3, subject, () => listAll(surroundings));
    return { writes, confirmed };
  } finally {
    await surroundings.stop();
  }
}
