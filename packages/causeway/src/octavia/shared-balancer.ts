import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import type { Owner } from '../services/provider.ts';
import type { Identity } from './identity.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';

interface Child {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

/**
 * How the controller uses a load balancer that does not belong to this cluster: another cluster may use the
 * same names.
 */
export interface SharedBalancer {
  /** The mark of every own listener and pool there. */
  readonly mark: string;
  isMine(child: Child): boolean;
}

/** Why the load balancer that a user names can't be used. */
export function refusalOf(
  given: string,
  known: ObservedBalancer | undefined,
  identity: Identity,
): { readonly reason: EventReason; readonly message: string } | undefined {
  if (known === undefined) {
    const message = `The load balancer ${given} does not exist. Correct or remove the annotation load-balancer-id.`;
    return { reason: 'NoSuchLoadBalancer', message };
  }
  if (!identity.isOfOtherCluster(known.balancer)) return undefined;
  const message = `The load balancer ${given} belongs to another cluster. Choose another one.`;
  return { reason: 'OtherClustersLoadBalancer', message };
}

/** Undefined on a load balancer of this cluster, where names suffice. */
export function sharedBalancerOn(
  { balancer }: ObservedBalancer,
  klb: KuryrLoadBalancer | undefined,
  owner: Owner,
  identity: Identity,
): SharedBalancer | undefined {
  if (identity.isOurs(balancer)) return undefined;
  const { listeners = [], pools = [] } = klb?.status ?? {};
  const recorded = new Set([...listeners, ...pools].map(({ id }) => id));
  const isMarkedMine = (child: Child): boolean => {
    switch (identity.standing(child)) {
      case 'own':
        return identity.isMadeFor(owner, child, true);
      case 'old':
        return identity.isMarkedFor(owner, child) || recorded.has(child.id);
      case 'same-id':
      case 'other':
        return false;
      case 'none':
        // Older objects have no mark. They belong to the Service if the status names them.
        return recorded.has(child.id);
    }
  };
  return {
    mark: identity.description(owner),
    isMine: (child) =>
      child.name.startsWith(`${owner.namespace}/${owner.name}:`) && isMarkedMine(child),
  };
}

/** The load balancer with only the Service's own children. */
export function ownPart(
  observed: ObservedBalancer,
  sharedBalancer: SharedBalancer | undefined,
): ObservedBalancer {
  if (sharedBalancer === undefined) return observed;
  const isMine = (child: Child) => sharedBalancer.isMine(child);
  return {
    ...observed,
    listeners: observed.listeners.filter(isMine),
    pools: observed.pools.filter(isMine),
  };
}
