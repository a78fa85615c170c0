import type { Address } from '@causeway/base/address/address';

/** The state of a gateway for fencing. */
export interface FenceStanding {
  readonly name: string;
  /** How long the gateway has not answered, or not accepted an update; undefined while it does. */
  readonly downForMs: number | undefined;
  /** Whether the gateway has confirmed the newest state. */
  readonly isCurrent: boolean;
  /** Whether the gateway reports that it carries the traffic. */
  readonly isActive: boolean;
  readonly isFenced: boolean;
  /** Whether an operator has requested the fence. */
  readonly isAskedFor: boolean;
  /** Whether the network can block the gateway's addresses. */
  readonly canBeShut: boolean;
  /** The addresses that can't be reused because the gateway may still announce them. */
  readonly blocks: ReadonlySet<Address>;
}

export type FenceAction =
  | { readonly kind: 'fence'; readonly gateway: string; readonly because: string }
  /** Blocks single addresses on the gateway; the others stay. */
  | { readonly kind: 'take'; readonly gateway: string; readonly addresses: ReadonlySet<Address> }
  | { readonly kind: 'lift'; readonly gateway: string };

/**
 * Decides which gateways to fence and which fences to lift. A gateway is fenced only if it has not answered
 * for long while an address waits for it. If all its addresses would be blocked at once, another gateway must
 * report that it carries the traffic. Otherwise a network failure between the controller and the only working
 * gateway would cause an outage.
 */
export function planFences(
  standings: readonly FenceStanding[],
  grain: 'address' | 'gateway',
  fenceAfterMs: number,
): readonly FenceAction[] {
  const actions: FenceAction[] = [];
  for (const gateway of standings) {
    const { name, downForMs, isFenced, isAskedFor, isCurrent, canBeShut, blocks } = gateway;
    if (isFenced) {
      const isWanted = isAskedFor || downForMs !== undefined;
      // The gateway must have confirmed its removals before it may use addresses again.
      if (!isWanted && isCurrent) actions.push({ kind: 'lift', gateway: name });
      continue;
    }
    if (isAskedFor) {
      actions.push({ kind: 'fence', gateway: name, because: 'an operator requested it' });
      continue;
    }
    const isOverdue = blocks.size > 0 && downForMs !== undefined && downForMs >= fenceAfterMs;
    if (!isOverdue || !canBeShut) continue;
    if (grain === 'address') {
      actions.push({ kind: 'take', gateway: name, addresses: blocks });
    } else if (standings.some((other) => other.isActive && other.downForMs === undefined)) {
      actions.push({
        kind: 'fence',
        gateway: name,
        because: `it has not answered for ${Math.round(downForMs / 1000)} s`,
      });
    }
  }
  return actions;
}
