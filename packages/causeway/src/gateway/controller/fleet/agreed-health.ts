import type { Address } from '@causeway/base/address/address';

/** One gateway's probe results. */
export interface HealthView {
  /** The backends that the gateway found unhealthy. */
  readonly seen: ReadonlySet<Address>;
  /** Whether the gateway carries the traffic. */
  readonly isActive: boolean;
  /** Whether the results are meaningful: the gateway is not cut off, and some backend answers it. */
  readonly canJudge: boolean;
}

/**
 * The backends that all gateways must exclude. The active gateway decides; without one, half of the gateways
 * with meaningful results. A wrongly excluded backend costs some capacity, but a dead one in use costs
 * connections. So with two gateways, the result of one is enough.
 */
export function agreeOnHealth(views: Iterable<HealthView>): ReadonlySet<Address> {
  const judges = [...views].filter(({ canJudge }) => canJudge);
  const votes = new Map<Address, number>();
  for (const { seen, isActive } of judges) {
    for (const address of seen) {
      const weight = isActive ? judges.length : 1;
      votes.set(address, (votes.get(address) ?? 0) + weight);
    }
  }
  return new Set(
    [...votes].filter(([, count]) => count * 2 >= judges.length).map(([address]) => address),
  );
}
