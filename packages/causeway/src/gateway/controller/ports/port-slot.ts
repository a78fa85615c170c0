import type { L4Port } from '../../../services/l4-port.ts';
import type { Address, Family } from '@causeway/base/address/address';

/** An address on which gateways can serve: of a Neutron port, or of a list. */
export interface L2Port {
  /** The ID of the Neutron port, or the address itself for addresses of a list. */
  readonly id: string;
  readonly family: Family;
  readonly address: Address;
  /** The address that clients use: the floating IP, if any. */
  readonly publicAddress: Address;
  /** Whether the floating IP stays with the project when the port is deleted. */
  readonly keepsPublic?: boolean;
  /** Why the address that clients use does not lead here now: its floating IP was lost. */
  readonly missing?: string;
}

export interface PlacementRequest {
  /** The UID of the Service. */
  readonly owner: string;
  readonly namespace: string;
  readonly family: Family;
  readonly needs: readonly L4Port[];
  /** Services share an address only within one sharing group: their namespace, or a common sharing key. */
  readonly sharingGroup: string;
  /** Serve only on this address. */
  readonly requested?: Address | undefined;
  /** The Service releases an address that new Services don't get. */
  readonly leavesRetiring?: boolean;
}

/** The ports of one Service on a slot. */
export interface Holding {
  readonly namespace: string;
  readonly sharingGroup: string;
  /** The ports that are written on the Service and served. They stay reserved until this changes. */
  readonly held: readonly L4Port[];
  /** The requested ports, reserved as well. Empty while the Service moves away. */
  readonly asked: readonly L4Port[];
}

/** The state of one L2 port. `port` is undefined during its creation. */
export interface PortSlot {
  /** Unique for the life of the mapper, also before the port has an ID. */
  readonly number: number;
  readonly family: Family;
  port: L2Port | undefined;
  /** The sharing group of all users. Undefined if they have several: no other Service joins. */
  sharingGroup: string | undefined;
  readonly requested: Address | undefined;
  /** An orphan that no gateway announces: a Service that requests its address gets it. */
  isOffered: boolean;
  readonly users: Map<string, Holding>;
}

/** Whether the whole request fits on this slot. */
export function fits(slot: PortSlot, request: PlacementRequest): boolean {
  if (slot.family !== request.family) return false;
  if (request.requested !== undefined && !serves(slot, request.requested)) return false;
  return userOf(slot, request.needs, request.owner) === undefined;
}

/**
 * Whether a Service on the slot may stay beside the other users. An existing share stays. After a change of
 * its sharing key, the others must have the same key or namespace.
 */
export function mayStay(
  slot: PortSlot,
  { owner, sharingGroup, namespace }: PlacementRequest,
): boolean {
  if (slot.users.get(owner)?.sharingGroup === sharingGroup) return true;
  return [...slot.users].every(
    ([user, other]) =>
      user === owner || other.sharingGroup === sharingGroup || other.namespace === namespace,
  );
}

/** Another user with one of these ports. */
export function userOf(
  slot: PortSlot,
  needs: readonly L4Port[],
  owner: string,
): string | undefined {
  for (const [user, { held, asked }] of slot.users) {
    if (user !== owner && (clash(held, needs) || clash(asked, needs))) return user;
  }
  return undefined;
}

/** The common sharing group of all users, if any. */
export function sharingGroupOfUsers({ users }: PortSlot): string | undefined {
  const sharingGroups = new Set([...users.values()].map(({ sharingGroup }) => sharingGroup));
  const [only] = sharingGroups;
  return sharingGroups.size === 1 ? only : undefined;
}

function serves(slot: PortSlot, address: Address): boolean {
  if (slot.port === undefined) return slot.requested === address;
  return slot.port.address === address || slot.port.publicAddress === address;
}

function clash(left: readonly L4Port[], right: readonly L4Port[]): boolean {
  return left.some((one) =>
    right.some((other) => one.port === other.port && one.protocol === other.protocol),
  );
}
