import type { Address } from '@causeway/base/address/address';

/** What one gateway says about who answers it. */
export interface HealthView {
  /** Whom it sees as silent. */
  readonly seen: ReadonlySet<Address>;
  /** Whether it carries the traffic now. */
  readonly isMaster: boolean;
  /** Whether it is in a position to judge: something has answered it, and it is not cut off. */
  readonly canJudge: boolean;
}

/**
 * Whom all gateways are to send nothing to. The one that carries the traffic is believed; else half of
 * those that can judge. A destination that is left out without need costs some capacity, one that is
 * kept although it is dead costs connections, so with two gateways the word of one is enough.
 */
export function agreeOnHealth(views: Iterable<HealthView>): ReadonlySet<Address> {
  const judges = [...views].filter(({ canJudge }) => canJudge);
  const votes = new Map<Address, number>();
  for (const { seen, isMaster } of judges) {
    for (const address of seen) {
      const weight = isMaster ? judges.length : 1;
      votes.set(address, (votes.get(address) ?? 0) + weight);
    }
  }
  return new Set(
    [...votes].filter(([, count]) => count * 2 >= judges.length).map(([address]) => address),
  );
}
