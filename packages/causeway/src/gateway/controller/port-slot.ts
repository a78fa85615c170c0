import type { L4Port } from '../../services/l4-port.ts';
import type { Address, Family } from '@causeway/base/address/address';

/** An address that gateways can serve on: a Neutron port's, or one of a list. */
export interface L2Port {
  /** The Neutron port's id, or the address itself for addresses of a list. */
  readonly id: string;
  readonly family: Family;
  readonly address: Address;
  /** The address that users reach, where it is another one: a floating IP. */
  readonly publicAddress: Address;
  /** Whether the floating IP stays with the project when the port is deleted. */
  readonly keepsPublic?: boolean;
  /** Why the address that users know does not lead here now: its floating IP is lost. */
  readonly missing?: string;
}

export interface PlacementRequest {
  /** The UID of the Service. */
  readonly owner: string;
  readonly namespace: string;
  readonly family: Family;
  readonly needs: readonly L4Port[];
  /**
   * Services come to share an address only within one circle: their namespace, or the sharing key that
   * all of them name.
   */
  readonly sharingGroup: string;
  /** Serve on this address and on no other. */
  readonly requested?: Address | undefined;
}

/** What one Service has on a slot. */
export interface Holding {
  readonly namespace: string;
  readonly sharingGroup: string;
  /** What is written on the Service and served. It is nobody else's until that has changed. */
  readonly held: readonly L4Port[];
  /** What it asks for now: reserved as well. Nothing where it is about to leave. */
  readonly asked: readonly L4Port[];
}

/** What is known of one L2 port. Its `port` is undefined while it is being made. */
export interface PortSlot {
  /** Unique for the life of the mapper, also before the port has an id. */
  readonly number: number;
  readonly family: Family;
  port: L2Port | undefined;
  /** The circle of all who are on it. Undefined where they are of several: nobody new joins. */
  sharingGroup: string | undefined;
  readonly requested: Address | undefined;
  /** An orphan that no gateway announces: a Service that asks for its address gets it. */
  isOffered: boolean;
  readonly users: Map<string, Holding>;
}

/** Whether everything that is asked for can be had on this slot. */
export function fits(slot: PortSlot, request: PlacementRequest): boolean {
  if (slot.family !== request.family) return false;
  if (request.requested !== undefined && !serves(slot, request.requested)) return false;
  return userOf(slot, request.needs, request.owner) === undefined;
}

/**
 * Whether a Service that is on the slot may stay beside the others. What was shared when it came stays
 * so; when its sharing key has changed since, the others must have the same, or be of its namespace.
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

/** Who else has one of these already. */
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

/** The one circle of all its users, if there is one. */
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
