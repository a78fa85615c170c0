import { keyOf } from '@causeway/kubernetes/objects/object';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { applyPlan } from './apply-plan.ts';
import { sharedBalancerOn, ownPart } from './shared-balancer.ts';
import { isLeaving } from './record-balancer-events.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';
import type { OctaviaState } from './state.ts';
import { withdrawalOf } from './listener-withdrawal.ts';

type LeaveOptions = Pick<OctaviaState, 'balancing' | 'inventory' | 'identity' | 'klbs'>;

/** Removes the recorded listeners and pools from a load balancer that the Service may no longer use. */
export async function withdraw(
  { balancing, inventory, identity }: LeaveOptions,
  klb: KuryrLoadBalancer,
  owner: Owner,
  known: ObservedBalancer,
  context: ProviderContext,
): Promise<void> {
  const plan = withdrawalOf(klb, ownPart(known, sharedBalancerOn(known, klb, owner, identity)));
  if (identity.isOfOtherCluster(known.balancer) || plan === undefined) return;
  inventory.put((await applyPlan(balancing, known, plan, context)).observed);
}

/**
 * The user named another load balancer. The listeners leave the former one. A load balancer that was created
 * for this Service alone is deleted.
 */
export async function leaveFormer(
  options: LeaveOptions,
  klb: KuryrLoadBalancer,
  owner: Owner,
  servingId: string,
  context: ProviderContext,
): Promise<void> {
  const { balancing, inventory, identity, klbs } = options;
  const { id: formerId = servingId, given: wasGiven = false } = klb.status?.loadbalancer ?? {};
  if (formerId === servingId) return;
  const former = await inventory.read(formerId, context);
  if (former === undefined || isLeaving(former)) return;
  const isUsed = klbs.sharers(formerId, keyOf(klb)).length > 0;
  if (isUsed || !identity.isMadeFor(owner, former.balancer, wasGiven)) {
    await withdraw(options, klb, owner, former, context);
    return;
  }
  context.recordEvent('KuryrReleaseLB', `Releasing the load balancer ${formerId}`);
  await balancing.deleteLoadBalancer(formerId, { signal: context.signal, cascade: true });
  inventory.putBare({ ...former.balancer, provisioningStatus: 'PENDING_DELETE' });
}
