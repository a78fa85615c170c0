// A controller that starts with Services that are served already, compared with a program that lists the same
// objects.

import { listAll } from '../gateway-baselines.ts';
import { startController, Surroundings, until } from '../gateway-load.ts';
import { inRounds, serviceCounts, type GrowthSuite, type Series } from './curve.ts';

const rounds = 3;

/** From the start until every gateway has acknowledged everything, in milliseconds. */
async function confirmed(surroundings: Surroundings, count: number): Promise<number> {
  const started = performance.now();
  const controller = await startController(surroundings);
  await until(() => controller.agents.every(({ frontends }) => frontends === count));
  const elapsed = performance.now() - started;
  await until(() => controller.reconciles() >= count);
  await controller.stop();
  return elapsed;
}

async function measure(at: number): Promise<Series[]> {
  const surroundings = await Surroundings.start(0);
  try {
    await surroundings.serve('growth', at);
    const subject = {
      series: 'gateway controller',
      at,
      measure: () => confirmed(surroundings, at),
    };
    return await inRounds(rounds, [subject], () => listAll(surroundings));
  } finally {
    await surroundings.stop();
  }
}

export const suite: GrowthSuite = {
  name: 'restart',
  async run() {
    const points = [];
    for (const at of serviceCounts) {
      const [series] = await measure(at);
      points.push(...(series?.points ?? []));
    }
    return {
      'restart-by-services': {
        title: 'A restart of the controller, until all gateways have confirmed',
        along: 'Services',
        baseline: 'listing the same objects',
        series: [{ name: 'Causeway', points }],
      },
    };
  },
};
