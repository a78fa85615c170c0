import type { Address } from '@causeway/base/address/address';

/** How a gateway stands, as far as fencing is concerned. */
export interface FenceStanding {
  readonly name: string;
  /** How long it has not answered, or not taken what it was sent; undefined while it does. */
  readonly downForMs: number | undefined;
  /** Whether it has confirmed the newest state. */
  readonly isCurrent: boolean;
  /** Whether it says that it carries the traffic. */
  readonly isMaster: boolean;
  readonly isFenced: boolean;
  /** Whether an operator has asked for the fence. */
  readonly isAskedFor: boolean;
  /** Whether the network can keep our addresses from it. */
  readonly canBeShut: boolean;
  /** The addresses that nobody else can have because it may still announce them. */
  readonly blocks: ReadonlySet<Address>;
}

export type FenceAction =
  | { readonly kind: 'fence'; readonly gateway: string; readonly because: string }
  /** Takes single addresses from it and leaves it the others. */
  | { readonly kind: 'take'; readonly gateway: string; readonly addresses: ReadonlySet<Address> }
  | { readonly kind: 'lift'; readonly gateway: string };

/**
 * Which gateways are to be fenced, and which fences can be lifted. Nobody is fenced without need: only
 * one that has not answered for long while an address waits for it. Where all its addresses would go at
 * once, another gateway must say that it carries the traffic, or a broken line between us and the only
 * one that works would become an outage.
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
      // It must know what it lost before it may use anything again.
      if (!isWanted && isCurrent) actions.push({ kind: 'lift', gateway: name });
      continue;
    }
    if (isAskedFor) {
      actions.push({ kind: 'fence', gateway: name, because: 'an operator asked for it' });
      continue;
    }
    const isOverdue = blocks.size > 0 && downForMs !== undefined && downForMs >= fenceAfterMs;
    if (!isOverdue || !canBeShut) continue;
    if (grain === 'address') {
      actions.push({ kind: 'take', gateway: name, addresses: blocks });
    } else if (standings.some((other) => other.isMaster && other.downForMs === undefined)) {
      actions.push({
        kind: 'fence',
        gateway: name,
        because: `it has not answered for ${Math.round(downForMs / 1000)} s`,
      });
    }
  }
  return actions;
}
