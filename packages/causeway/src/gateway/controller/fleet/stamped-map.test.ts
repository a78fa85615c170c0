import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { StampedMap } from './stamped-map.ts';

const changes = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd'),
    value: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
    forgetsUpTo: fc.option(fc.nat(40), { nil: undefined }),
  }),
  { maxLength: 300 },
);

test('the changes after a generation are those of a walk over all values', () => {
  fc.assert(
    fc.property(changes, fc.nat(300), (steps, base) => {
      const map = new StampedMap<string, number>((left, right) => left === right);
      const stamps = new Map<string, { value: number | undefined; generation: number }>();
      for (const [index, { key, value, forgetsUpTo }] of steps.entries()) {
        const generation = index + 1;
        if (map.set(key, value, generation)) stamps.set(key, { value, generation });
        if (forgetsUpTo === undefined) continue;
        map.forgetRemoved(forgetsUpTo);
        for (const [each, { value: known, generation: at }] of stamps) {
          if (known === undefined && at <= forgetsUpTo) stamps.delete(each);
        }
      }
      const { values, removed } = map.since(base);
      const after = [...stamps].filter(([, { generation }]) => generation > base);
      const inOrder = (numbers: readonly number[]) =>
        [...numbers].sort((left, right) => left - right);
      expect(inOrder(values)).toEqual(inOrder(after.flatMap(([, { value }]) => value ?? [])));
      expect([...removed].sort()).toEqual(
        after.flatMap(([key, { value }]) => (value === undefined ? key : [])).sort(),
      );
    }),
  );
});
