import type { Address, Family } from '@causeway/base/address/address';
import type { L2Port, PortSlot } from './port-slot.ts';
import type { L4Port } from '../../../services/l4-port.ts';

/** The port of a Service before a restart, according to its annotation. */
export interface PriorAllocation {
  readonly owner: string;
  readonly namespace: string;
  /** The sharing group at the time of placement, which can differ from the current one. */
  readonly sharingGroup: string;
  /** The current sharing group. It counts if the status does not confirm the annotation. */
  readonly ownSharingGroup: string;
  /** The L4 ports that the Service holds, which can differ from the ports in its spec. */
  readonly held: readonly L4Port[];
  readonly portId: string;
  readonly family: Family;
  /**
   * Whether the held ports are in the annotation. Otherwise they are taken from the spec, and written ones
   * take precedence.
   */
  readonly isWritten: boolean;
  readonly createdAt: string;
  /** The addresses of this family in the status, which clients use now. */
  readonly advertised: readonly Address[];
  /** The address that clients use, so that a lost port can be recreated with it. */
  readonly publicAddress?: Address | undefined;
  /** Whether the Service wants to keep the floating IP. */
  readonly keepsPublic?: boolean | undefined;
  /** Whether the Service has Causeway's finalizer. Nothing outside is changed for it before. */
  readonly isTakenOver: boolean;
}

/**
 * How the Service's status supports an allocation. Unlike an annotation, users can't write the status:
 *
 * - `shown`: the status has the address of the port in the annotation;
 * - `open`: no port has the address in the status. The port or its floating IP was lost, so the status proves
 *   nothing;
 * - `unfounded`: the status is empty, or has another port's address.
 */
type AllocationStanding = 'shown' | 'open' | 'unfounded';

export function standingOf(
  { portId, advertised }: PriorAllocation,
  portAt: (address: Address) => L2Port | undefined,
): AllocationStanding {
  const shownPorts = advertised.flatMap((address) => portAt(address) ?? []);
  if (shownPorts.some(({ id }) => id === portId)) return 'shown';
  return advertised.length > 0 && shownPorts.length === 0 ? 'open' : 'unfounded';
}

/** Whether the status has the address of another port than the annotation. */
export function isElsewhere(
  { portId, advertised }: PriorAllocation,
  portAt: (address: Address) => L2Port | undefined,
): boolean {
  const shownPorts = advertised.flatMap((address) => portAt(address) ?? []);
  return shownPorts.length > 0 && !shownPorts.some(({ id }) => id === portId);
}

/**
 * Whether the sharing groups allow the Service on the slot beside its users. An existing share across groups
 * stays, but an annotation alone creates no share.
 */
export function mayJoin(
  { users }: PortSlot,
  { ownSharingGroup }: PriorAllocation,
  standing: AllocationStanding,
  hasShown: boolean,
): boolean {
  if (standing === 'shown' || (standing === 'open' && !hasShown)) return true;
  return [...users.values()].every(({ sharingGroup }) => sharingGroup === ownSharingGroup);
}

/** The allocations of each port. */
export function groupByPort(
  allocations: readonly PriorAllocation[],
): Map<string, PriorAllocation[]> {
  const groups = new Map<string, PriorAllocation[]>();
  for (const allocation of allocations) {
    const group = groups.get(allocation.portId);
    if (group === undefined) groups.set(allocation.portId, [allocation]);
    else group.push(allocation);
  }
  return groups;
}

const ranks: Record<AllocationStanding, number> = { shown: 0, open: 1, unfounded: 2 };

/** One total order: confirmed by the status, then written in the annotation, then the older, then by UID. */
export function compareAllocations(
  [left, leftStanding]: readonly [PriorAllocation, AllocationStanding],
  [right, rightStanding]: readonly [PriorAllocation, AllocationStanding],
): number {
  if (leftStanding !== rightStanding) return ranks[leftStanding] - ranks[rightStanding];
  if (left.isWritten !== right.isWritten) return left.isWritten ? -1 : 1;
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
  return left.owner < right.owner ? -1 : left.owner > right.owner ? 1 : 0;
}
