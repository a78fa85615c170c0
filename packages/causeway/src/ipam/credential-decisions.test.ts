import { expect, test } from 'vitest';
import { issueCredential, rotateCredential } from './credential-decisions.ts';
import { TestAllocator } from './test-allocator.testing.ts';

const issue = (testAllocator: TestAllocator, lifetimeMs: number | undefined) =>
  testAllocator.run(
    issueCredential({ id: 'old', hash: 'aa', kind: 'token', boundTo: undefined, lifetimeMs }),
  );
const rotate = (testAllocator: TestAllocator) =>
  testAllocator.run(rotateCredential({ from: 'old', id: 'new', hash: 'bb', overlapMs: 1_000 }));

test('a rotated credential expires when its predecessor would have expired', () => {
  const testAllocator = new TestAllocator();
  const { expiresAt } = issue(testAllocator, 60_000);
  testAllocator.now += 10_000;
  expect(expiresAt).toBeDefined();
  expect(rotate(testAllocator).expiresAt).toBe(expiresAt);
  expect(testAllocator.view.credential('old')?.record.expiresAt).toBe(testAllocator.now + 1_000);
});

test('a credential without an expiry time is rotated into another without one', () => {
  const testAllocator = new TestAllocator();
  issue(testAllocator, undefined);
  expect(rotate(testAllocator).expiresAt).toBeUndefined();
});

test('a repeated rotation after a lost answer is not shortened by the overlap', () => {
  for (const lifetimeMs of [undefined, 60_000]) {
    const testAllocator = new TestAllocator();
    const { expiresAt } = issue(testAllocator, lifetimeMs);
    rotate(testAllocator);
    const again = rotateCredential({ from: 'old', id: 'newer', hash: 'cc', overlapMs: 1_000 });
    expect(testAllocator.run(again).expiresAt).toBe(expiresAt);
  }
});
