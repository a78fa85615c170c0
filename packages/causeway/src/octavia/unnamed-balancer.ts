import type { Owner } from '../services/provider.ts';
import { isKuryrs, sameProvider, type Identity } from './identity.ts';
import type { Inventory } from './inventory.ts';
import { isLeaving } from './record-balancer-events.ts';
import type { ObservedBalancer } from './observed.ts';
import type { WantedBalancer } from './desired.ts';

/**
 * A load balancer that Causeway or Kuryr created for this Service or its predecessor, and that no status
 * names.
 */
export function unnamedBalancer(
  inventory: Inventory,
  identity: Identity,
  owner: Owner,
  wanted: WantedBalancer,
): ObservedBalancer | undefined {
  const { name, address, subnetId, provider } = wanted;
  const identifying = {
    ...(address === undefined ? {} : { address }),
    ...(subnetId === undefined ? {} : { subnetId }),
    ...(provider === undefined ? {} : { provider }),
  };
  // A load balancer that is being deleted comes last. The caller waits for it, because it still has the address.
  const candidates = [...inventory.named(name)].sort(
    (left, right) => Number(isLeaving(left)) - Number(isLeaving(right)),
  );
  return (
    candidates.find(({ balancer }) => identity.isMarkedFor(owner, balancer)) ??
    candidates.find(({ balancer }) => isKuryrs(balancer, identifying)) ??
    candidates.find(
      (observed) => identity.isFormerOf(owner, observed.balancer) && canReuse(observed, wanted),
    )
  );
}

/**
 * A held load balancer is adopted only if the Service can use it unchanged. It is never replaced for that.
 */
function canReuse(observed: ObservedBalancer, wanted: WantedBalancer): boolean {
  const { vipAddress, vipSubnetId, provider, provisioningStatus } = observed.balancer;
  if (isLeaving(observed) || provisioningStatus === 'ERROR') return false;
  if (wanted.address !== undefined && wanted.address !== vipAddress) return false;
  if (wanted.subnetId !== undefined && wanted.subnetId !== vipSubnetId) return false;
  return sameProvider(wanted.provider, provider);
}
