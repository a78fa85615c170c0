import type { Owner } from '../provider.ts';
import { isKuryrs, type Identity } from './identity.ts';
import type { Inventory } from './inventory.ts';
import { isLeaving } from './keeper-news.ts';
import type { ObservedBalancer } from './observed.ts';
import type { WantedBalancer } from './wanted.ts';

/** One that we or Kuryr have made for this Service and that nothing names. */
export function unnamedBalancer(
  inventory: Inventory,
  identity: Identity,
  owner: Owner,
  { name, address, subnetId, provider }: WantedBalancer,
): ObservedBalancer | undefined {
  const mine = identity.description(owner);
  const identifying = {
    ...(address === undefined ? {} : { address }),
    ...(subnetId === undefined ? {} : { subnetId }),
    ...(provider === undefined ? {} : { provider }),
  };
  // One that is on its way out comes last, but it is waited for: it still has the address.
  const candidates = [...inventory.named(name)].sort(
    (left, right) => Number(isLeaving(left)) - Number(isLeaving(right)),
  );
  return (
    candidates.find(({ balancer }) => balancer.description === mine) ??
    candidates.find(({ balancer }) => isKuryrs(balancer, identifying))
  );
}
