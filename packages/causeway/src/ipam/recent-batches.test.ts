import { describe, expect, test } from 'vitest';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { RecentBatches } from './recent-batches.ts';

const never = new AbortController().signal;
const batch = (revision: number, key = 'state/a') => ({
  revision,
  changes: [{ key, value: 'x', revision }],
});

describe('recent batches', () => {
  test('are delivered from any kept revision on, in order', async () => {
    const recent = new RecentBatches();
    recent.startAt(5);
    for (const revision of [6, 7, 8]) recent.add(batch(revision));
    const following = recent.follow('state/', 6, never);
    expect((await following.next()).value).toEqual(batch(7));
    expect((await following.next()).value).toEqual(batch(8));
    const next = following.next();
    recent.add(batch(9, 'other/a'));
    expect((await next).value).toEqual({ revision: 9, changes: [] });
  });

  test('must be loaded if they are older than the kept ones', async () => {
    const recent = new RecentBatches();
    recent.startAt(5);
    await expect(recent.follow('state/', 4, never).next()).rejects.toMatchObject({ code: 'gone' });
    for (let revision = 6; revision < 9_000; revision += 1) recent.add(batch(revision));
    await expect(recent.follow('state/', 5, never).next()).rejects.toMatchObject({ code: 'gone' });
    expect((await recent.follow('state/', 8_000, never).next()).value).toMatchObject({
      revision: 8_001,
    });
  });

  test('end with the ledger', async () => {
    const recent = new RecentBatches();
    const next = recent.follow('state/', 0, never).next();
    recent.end(new CausewayError('internal', 'broken'));
    await expect(next).rejects.toThrow('broken');
  });
});
