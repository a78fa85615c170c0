import fs from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { serviceAnnotations, unknownAnnotations } from './known-annotations.ts';

/** Names with the prefix that are labels, classes, tags, or annotations of other objects. */
const otherNames = [
  ...['activity', 'backend', 'gateway', 'load-balancer-id', 'managed', 'pool', 'project-id'],
  ...['previous-min-replicas', 'weight', 'withdraws-after'],
];

test('the list has each name in the sources', async () => {
  const root = path.join(import.meta.dirname, '..');
  const names = new Set<string>();
  for await (const file of fs.glob('**/*.ts', { cwd: root })) {
    if (/\.(?:test|testing)\.ts$/.test(file)) continue;
    const text = await fs.readFile(path.join(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/'causeway\.dev\/([a-z0-9-]+)'/g)) names.add(name);
  }
  expect(names.size).toBeGreaterThan(20);
  const known = new Set([...serviceAnnotations, ...otherNames]);
  expect([...names].filter((name) => !known.has(name))).toEqual([]);
});

test.each([
  [{}, undefined],
  [{ 'causeway.dev/address': '', 'example.com/adress': '', 'causeway.device/x': '' }, undefined],
  [
    { 'causeway.dev/adress': '' },
    'The annotation causeway.dev/adress is not known: is causeway.dev/address meant?',
  ],
  [
    { 'causeway.dev/sharingkey': '' },
    'The annotation causeway.dev/sharingkey is not known: is causeway.dev/sharing-key meant?',
  ],
  [{ 'causeway.dev/flux': '' }, 'The annotation causeway.dev/flux is not known'],
  [
    { 'causeway.dev/weight': '3' },
    'causeway.dev/weight has no effect on a Service: write it on pods',
  ],
])('%j', (annotations, message) => {
  expect(unknownAnnotations(annotations)).toBe(message);
});

test('names at most three', () => {
  const many = Object.fromEntries(
    ['q1', 'q2', 'q3', 'q4', 'q5'].map((x) => [`causeway.dev/${x}${x}`, '']),
  );
  expect(unknownAnnotations(many)).toMatch(/; and 2 more$/);
});
