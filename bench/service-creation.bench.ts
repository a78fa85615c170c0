import { creationCost, creations, type Creation } from '../test/simulation/creation-cost.ts';
import type { Bar, BenchmarkSuite, Measurement } from './benchmark.ts';

type Count = 'reconciles' | 'writes' | 'conflicts';
type Figure = `service-creation-${Count}`;

const rounds = 10;

const atMost = (limit: number, unit: string): Bar => ({
  of: 'value',
  comparison: 'at most',
  limit,
  unit,
});

/**
 * Cost of a new Service for the controller: reconciles, writes to the Service, and conflicts of the
 * controller with its own writes. Each figure is the highest of all providers and rounds. The rounds differ
 * in the order in which answers and watch events of the embedded API arrive.
 */
export const suite: BenchmarkSuite<Figure> = {
  name: 'service-creation',
  bars: {
    'service-creation-reconciles': atMost(2, 'reconciles'),
    'service-creation-writes': atMost(3, 'writes'),
    'service-creation-conflicts': atMost(0, 'conflicts'),
  },
  async run() {
    const counts: Record<Count, number[]> = { reconciles: [], writes: [], conflicts: [] };
    for (const creation of Object.keys(creations) as Creation[]) {
      for (let seed = 0; seed < rounds; seed += 1) {
        const cost = await creationCost(creation, seed);
        for (const count of ['reconciles', 'writes', 'conflicts'] as const) {
          counts[count].push(cost[count]);
        }
      }
    }
    const figure = (values: readonly number[]): Measurement => ({
      value: Math.max(...values),
      baseline: null,
      spread: [Math.min(...values), Math.max(...values)],
    });
    return {
      'service-creation-reconciles': figure(counts.reconciles),
      'service-creation-writes': figure(counts.writes),
      'service-creation-conflicts': figure(counts.conflicts),
    };
  },
};
