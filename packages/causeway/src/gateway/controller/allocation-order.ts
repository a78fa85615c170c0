import type { Address, Family } from '@causeway/base/address/address';
import type { L2Port, PortSlot } from './port-slot.ts';
import type { L4Port } from '../../services/l4-port.ts';

/** Which Service had which port before, as its annotation says. */
export interface PriorAllocation {
  readonly owner: string;
  readonly namespace: string;
  /** The circle in which it was placed, which need not be the one it names now. */
  readonly sharingGroup: string;
  /** The circle that it names now, which counts where its status does not bear out the annotation. */
  readonly ownSharingGroup: string;
  /** What it holds there, which need not be what it asks for now. */
  readonly held: readonly L4Port[];
  readonly portId: string;
  readonly family: Family;
  /** Whether what it holds is written down. Otherwise it is what it asks for, and comes after what others hold. */
  readonly isWritten: boolean;
  readonly createdAt: string;
  /** The addresses of this family in its status: what its users are told now. */
  readonly advertised: readonly Address[];
  /** The address that users know, so that a port that was lost can be made again with it. */
  readonly publicAddress?: Address | undefined;
  /** Whether it wants the floating IP to be kept. */
  readonly keepsPublic?: boolean | undefined;
  /** Whether our finalizer is on it. Before that nothing is changed outside for it. */
  readonly isTakenOver: boolean;
}

/**
 * How a claim stands with the Service's status, which users can't write as they can an annotation:
 *
 * - `shown`: the status tells the address of the port that the annotation names;
 * - `open`: it tells one that no port has. The port or its floating IP was lost, so it says nothing;
 * - `unfounded`: it tells nothing, or another port's address.
 */
type ClaimStanding = 'shown' | 'open' | 'unfounded';

export function standingOf(
  { portId, advertised }: PriorAllocation,
  portAt: (address: Address) => L2Port | undefined,
): ClaimStanding {
  const told = advertised.flatMap((address) => portAt(address) ?? []);
  if (told.some(({ id }) => id === portId)) return 'shown';
  return advertised.length > 0 && told.length === 0 ? 'open' : 'unfounded';
}

/** Whether the status tells the address of another port than the annotation names. */
export function isElsewhere(
  { portId, advertised }: PriorAllocation,
  portAt: (address: Address) => L2Port | undefined,
): boolean {
  const told = advertised.flatMap((address) => portAt(address) ?? []);
  return told.length > 0 && !told.some(({ id }) => id === portId);
}

/**
 * Whether the Service may be on the slot beside those who are there, as far as circles go. What was
 * shared between circles stays so, but nobody comes to share by an annotation alone.
 */
export function mayJoin(
  { users }: PortSlot,
  { ownSharingGroup }: PriorAllocation,
  standing: ClaimStanding,
  hasShown: boolean,
): boolean {
  if (standing === 'shown' || (standing === 'open' && !hasShown)) return true;
  return [...users.values()].every(({ sharingGroup }) => sharingGroup === ownSharingGroup);
}

/** The claims of each port. */
export function groupByPort(claims: readonly PriorAllocation[]): Map<string, PriorAllocation[]> {
  const groups = new Map<string, PriorAllocation[]>();
  for (const claim of claims) {
    const group = groups.get(claim.portId);
    if (group === undefined) groups.set(claim.portId, [claim]);
    else group.push(claim);
  }
  return groups;
}

const ranks: Record<ClaimStanding, number> = { shown: 0, open: 1, unfounded: 2 };

/** One total order: what the status bears out, then what is written down, then the older, then by UID. */
export function compareAllocations(
  [left, leftStanding]: readonly [PriorAllocation, ClaimStanding],
  [right, rightStanding]: readonly [PriorAllocation, ClaimStanding],
): number {
  if (leftStanding !== rightStanding) return ranks[leftStanding] - ranks[rightStanding];
  if (left.isWritten !== right.isWritten) return left.isWritten ? -1 : 1;
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
  return left.owner < right.owner ? -1 : left.owner > right.owner ? 1 : 0;
}
