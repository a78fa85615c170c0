import { keyOf } from '../../kube/object.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';
import type { ChangePlan } from './plan-balancer.ts';

/**
 * What a Service leaves on a load balancer that it is not to use any more: what its status names and what
 * has its name. Either alone could be somebody else's. Undefined: nothing.
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
  const removeListeners = listeners.filter(isOurs).map(({ id }) => id);
  const removePools = pools.filter(isOurs).map(({ id }) => id);
  if (removeListeners.length + removePools.length === 0) return undefined;
  return { balancer: undefined, removeListeners, removePools, listeners: [] };
}
