import { keyOf } from '@causeway/kubernetes/objects/object';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';
import type { ChangePlan } from './plan-balancer.ts';

/**
 * The objects of a Service on a load balancer that it may no longer use: those in its status that also have
 * its name. Either alone could belong to another owner. Undefined: none.
 */
export function withdrawalOf(
  klb: KuryrLoadBalancer,
  { listeners, pools }: ObservedBalancer,
): ChangePlan | undefined {
  const { status = {} } = klb;
  const recorded = new Set(
    [...(status.listeners ?? []), ...(status.pools ?? [])].map(({ id }) => id),
  );
  const isOurs = ({ id, name }: { readonly id: string; readonly name: string }) =>
    recorded.has(id) && name.startsWith(`${keyOf(klb)}:`);
  return removal(listeners.filter(isOurs), pools.filter(isOurs));
}

/** All objects of a Service on its load balancer, where names suffice. Undefined: none. */
export function closingOf(
  klb: KuryrLoadBalancer,
  { listeners, pools }: ObservedBalancer,
): ChangePlan | undefined {
  const isOurs = ({ name }: { readonly name: string }) => name.startsWith(`${keyOf(klb)}:`);
  return removal(listeners.filter(isOurs), pools.filter(isOurs));
}

function removal(
  listeners: readonly { readonly id: string }[],
  pools: readonly { readonly id: string }[],
): ChangePlan | undefined {
  if (listeners.length + pools.length === 0) return undefined;
  return {
    balancer: undefined,
    removeListeners: listeners.map(({ id }) => id),
    removePools: pools.map(({ id }) => id),
    listeners: [],
  };
}
