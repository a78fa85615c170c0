import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  defaultLeaseTimes,
  leaseHeldBy,
  leaseReleased,
  observe,
  waitBeforeTaking,
} from './lease-record.ts';
import type { Lease } from '../objects/workload-objects.ts';

const wallTime = Date.UTC(2026, 0, 1);
const seen = (holderIdentity: string | undefined, resourceVersion = '1'): Lease => ({
  metadata: { uid: 'u', resourceVersion },
  spec: {
    ...(holderIdentity === undefined ? {} : { holderIdentity }),
    leaseDurationSeconds: 15,
    leaseTransitions: 4,
    acquireTime: '2025-12-31T00:00:00.000000Z',
  },
});

describe('waitBeforeTaking', () => {
  it.each([
    ['held by another, just seen', 'other', 1_000, 15_000],
    ['held by another, unchanged for a while', 'other', 11_000, 5_000],
    ['held by another, unchanged for too long', 'other', 16_000, 0],
    ['released', '', 1_000, 0],
    ['never held', undefined, 1_000, 0],
    ['our own', 'me', 1_000, 0],
  ])('a lease that is %s', (_, holder, now, expected) => {
    expect(waitBeforeTaking({ lease: seen(holder), changedAt: 1_000 }, 'me', now)).toBe(expected);
  });
});

describe('observe', () => {
  it('counts from the last observed change of the lease', () => {
    const first = observe(undefined, seen('other'), 1_000);
    expect(observe(first, seen('other'), 9_000)).toBe(first);
    expect(observe(first, seen('other', '2'), 9_000).changedAt).toBe(9_000);
  });
});

describe('the contents of the lease', () => {
  it('counts a transition when the holder changes, and none when it renews', () => {
    expect(leaseHeldBy(seen('other'), 'me', defaultLeaseTimes, wallTime)).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 5,
    });
    expect(leaseHeldBy(seen('me'), 'me', defaultLeaseTimes, wallTime)).toMatchObject({
      acquireTime: '2025-12-31T00:00:00.000000Z',
      leaseTransitions: 4,
    });
    expect(leaseHeldBy(undefined, 'me', defaultLeaseTimes, wallTime).leaseTransitions).toBe(0);
  });

  it('stay valid after any previous contents', () => {
    const int32 = fc.integer({ min: 0, max: 2 ** 31 - 1 });
    const spec = fc.record(
      {
        holderIdentity: fc.oneof(fc.string(), fc.constant('me')),
        leaseDurationSeconds: int32.filter((seconds) => seconds > 0),
        leaseTransitions: fc.oneof(int32, fc.constant(2 ** 31 - 1)),
        acquireTime: fc.constant('0001-01-01T00:00:00.000000Z'),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(spec, fc.nat(), (before, now) => {
        const lease = { metadata: { uid: 'u', resourceVersion: '1' }, spec: before };
        const after = leaseHeldBy(lease, 'me', defaultLeaseTimes, wallTime);
        expect(after.leaseTransitions).toBeLessThanOrEqual(2 ** 31 - 1);
        expect(after.leaseTransitions).toBeGreaterThanOrEqual(before.leaseTransitions ?? 0);
        const waitMs = waitBeforeTaking({ lease, changedAt: 0 }, 'me', now);
        expect(waitMs).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(waitMs)).toBe(true);
      }),
    );
  });

  it('have no holder after a release', () => {
    expect(leaseReleased(seen('me'), wallTime)).toMatchObject({
      holderIdentity: '',
      leaseDurationSeconds: 1,
      leaseTransitions: 4,
    });
  });
});
