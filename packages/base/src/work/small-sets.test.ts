import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SmallSets } from './small-sets.ts';

const step = fc.record({
  isAdded: fc.boolean(),
  key: fc.constantFrom('a', 'b'),
  member: fc.constantFrom('1', '2', '3'),
});

test('has the same members as one set for each key, and no key without members', () => {
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const sets = new SmallSets<string, string>();
      const expected = new Map<string, Set<string>>();
      for (const { isAdded, key, member } of steps) {
        const members = expected.get(key) ?? new Set<string>();
        if (isAdded) sets.add(key, member);
        else sets.delete(key, member);
        if (isAdded) members.add(member);
        else members.delete(member);
        if (members.size === 0) expected.delete(key);
        else expected.set(key, members);
        expect(sets.size).toBe(expected.size);
        for (const each of ['a', 'b']) {
          expect([...sets.of(each)]).toEqual([...(expected.get(each) ?? [])]);
          expect(sets.has(each)).toBe(expected.has(each));
        }
      }
    }),
  );
});
