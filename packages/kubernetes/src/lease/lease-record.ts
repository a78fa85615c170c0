import type { Lease } from '../objects/workload-objects.ts';

export interface LeaseTimes {
  /** Others wait this long after the last observed renewal. */
  readonly leaseMs: number;
  /** The holder stops this long after its last renewal began. Less than `leaseMs`. */
  readonly renewDeadlineMs: number;
  /** Interval in which the holder renews, and others check. */
  readonly retryMs: number;
}

/** The defaults of client-go. */
export const defaultLeaseTimes: LeaseTimes = {
  leaseMs: 15_000,
  renewDeadlineMs: 10_000,
  retryMs: 2_000,
};

/** Maximum of the API server. A lease with a maximal counter must not become unusable. */
const mostTransitions = 2 ** 31 - 1;

/** An observed lease, with the time of its last change by our own clock. */
export interface Observation {
  readonly lease: Lease;
  readonly changedAt: number;
}

/** Records when the lease last changed by our clock; the times in it come from foreign clocks. */
export function observe(before: Observation | undefined, lease: Lease, nowMs: number): Observation {
  const isSame =
    before?.lease.metadata?.uid === lease.metadata?.uid &&
    before?.lease.metadata?.resourceVersion === lease.metadata?.resourceVersion;
  return isSame && before !== undefined ? before : { lease, changedAt: nowMs };
}

/** Remaining time before we may take the lease; 0 for now. */
export function waitBeforeTaking(observed: Observation, identity: string, nowMs: number): number {
  const { holderIdentity, leaseDurationSeconds = 0 } = observed.lease.spec ?? {};
  if (holderIdentity === undefined || holderIdentity === '' || holderIdentity === identity)
    return 0;
  return Math.max(0, observed.changedAt + leaseDurationSeconds * 1000 - nowMs);
}

/** Contents of the lease when we take it over or renew it. */
export function leaseHeldBy(
  before: Lease | undefined,
  identity: string,
  times: LeaseTimes,
  wallTime: number,
): NonNullable<Lease['spec']> {
  const now = microTime(wallTime);
  const previous = before?.spec;
  const isRenewal = previous?.holderIdentity === identity;
  const transitions = previous?.leaseTransitions ?? 0;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(times.leaseMs / 1000),
    acquireTime: isRenewal ? (previous.acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions:
      before === undefined || isRenewal ? transitions : Math.min(transitions + 1, mostTransitions),
  };
}

/** Contents of the lease after its holder stopped in good order: immediately free. */
export function leaseReleased(before: Lease, wallTime: number): NonNullable<Lease['spec']> {
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    renewTime: microTime(wallTime),
    leaseTransitions: before.spec?.leaseTransitions ?? 0,
  };
}

function microTime(wallTime: number): string {
  return new Date(wallTime).toISOString().replace('Z', '000Z');
}
