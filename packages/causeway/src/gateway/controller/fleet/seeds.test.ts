import { expect, test } from 'vitest';
import { describeSeeds } from './seeds.ts';

test.each([
  ['no gateway', {}, undefined],
  ['equal seeds', { g1: 'a', g2: 'a' }, undefined],
  ['a gateway without a seed in its status', { g1: 'a', g2: undefined }, undefined],
  ['two seeds', { g1: 'a', g2: 'b' }, 'different seeds: g1; g2.'],
  ['one different gateway', { g1: 'a', g2: 'b', g3: 'a' }, 'different seeds: g1 and g3; g2.'],
])('%s', (_what, seeds, message) => {
  const statuses = Object.entries(seeds).map(
    ([name, seed]) => [name, seed === undefined ? {} : { seed }] as const,
  );
  const problem = describeSeeds(new Map(statuses));
  if (message === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(message);
});
