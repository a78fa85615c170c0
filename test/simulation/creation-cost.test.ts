import { expect, test } from 'vitest';
import { creationCost, creations, type Creation } from './creation-cost.ts';

const names = Object.keys(creations) as Creation[];
/** Each seed is another order in which answers and watch events arrive. */
const seeds = Array.from({ length: 20 }, (_, seed) => seed);

test.each(names)(
  'a new Service costs at most 2 reconciles and 3 writes, with no conflict: %s',
  async (creation) => {
    for (const seed of seeds) {
      const { reconciles, writes, conflicts, events } = await creationCost(creation, seed);
      expect({ seed, reconciles }).toEqual({ seed, reconciles: Math.min(reconciles, 2) });
      expect({ seed, writes, conflicts }).toEqual({ seed, writes: 3, conflicts: 0 });
      expect(events).toContain('1 EnsuringLoadBalancer');
      expect(events).toContain('1 EnsuredLoadBalancer');
    }
  },
);
