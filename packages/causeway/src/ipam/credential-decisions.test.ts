import { expect, test } from 'vitest';
import { issueCredential, rotateCredential } from './credential-decisions.ts';
import { Desk } from './test-allocator.testing.ts';

const issue = (desk: Desk, lifetimeMs: number | undefined) =>
  desk.run(
    issueCredential({ id: 'old', hash: 'aa', kind: 'token', boundTo: undefined, lifetimeMs }),
  );
const rotate = (desk: Desk) =>
  desk.run(rotateCredential({ from: 'old', id: 'new', hash: 'bb', overlapMs: 1_000 }));

test('a credential that is rotated ends when the one before it would have', () => {
  const desk = new Desk();
  const { expiresAt } = issue(desk, 60_000);
  desk.now += 10_000;
  expect(expiresAt).toBeDefined();
  expect(rotate(desk).expiresAt).toBe(expiresAt);
  expect(desk.view.credential('old')?.record.expiresAt).toBe(desk.now + 1_000);
});

test('a credential without an end is rotated into one without an end', () => {
  const desk = new Desk();
  issue(desk, undefined);
  expect(rotate(desk).expiresAt).toBeUndefined();
});

test('one that is rotated again, because the answer was lost, is not cut short by the overlap', () => {
  for (const lifetimeMs of [undefined, 60_000]) {
    const desk = new Desk();
    const { expiresAt } = issue(desk, lifetimeMs);
    rotate(desk);
    const again = rotateCredential({ from: 'old', id: 'newer', hash: 'cc', overlapMs: 1_000 });
    expect(desk.run(again).expiresAt).toBe(expiresAt);
  }
});
