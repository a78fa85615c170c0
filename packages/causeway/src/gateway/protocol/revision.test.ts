import { expect, test } from 'vitest';
import { commonRevision, understands } from './revision.ts';

const version = (number: number) => ({ oldest: Math.max(1, number - 1), newest: number });

test.each([
  [1, 1, 1],
  [2, 1, 1],
  [1, 2, 1],
  [2, 2, 2],
  [3, 2, 2],
  [2, 3, 2],
])(
  'a controller of version %i and an agent of version %i use revision %i',
  (mine, theirs, revision) => {
    const common = commonRevision(version(mine), version(theirs));
    expect(common).toBe(revision);
    expect(understands(version(theirs), common)).toBe(true);
  },
);

test.each([
  [1, 3],
  [4, 2],
])('rejects a controller of version %i with an agent of version %i', (mine, theirs) => {
  expect(() => commonRevision(version(mine), version(theirs))).toThrow('supports the revisions');
});
