import type { Address, Family } from '@causeway/base/address/address';
import { SmallSets } from '@causeway/base/work/small-sets';
import {
  compareAllocations,
  mayJoin,
  standingOf,
  type PriorAllocation,
} from './allocation-order.ts';
import {
  sharingGroupOfUsers,
  fits,
  mayStay,
  userOf,
  type Holding,
  type L2Port,
  type PlacementRequest,
  type PortSlot,
} from './port-slot.ts';
import type { L4Port } from '../../../services/l4-port.ts';

/**
 * The placement of a Service: on an existing port (or one under creation for another Service), on a new port
 * that the caller must create, or a rejection with its reason.
 */
export type Placement =
  | { readonly kind: 'placed'; readonly slot: PortSlot }
  | { readonly kind: 'make'; readonly slot: PortSlot; readonly requested: Address | undefined }
  | {
      readonly kind: 'refused';
      readonly reason: 'taken' | 'other-sharing-group';
      readonly by: string;
    }
  /** The requested address is being removed: a gateway may still announce it for its former owner. */
  | { readonly kind: 'leaving' };

/** The placement of a Service in one family. During a move, it still holds its ports on `from`. */
interface Stand {
  readonly slot: PortSlot;
  readonly from: PortSlot | undefined;
}

/**
 * The assignment of Services to ports. It is in memory and answers immediately, so that an address is
 * reserved before any await: two workers never get the same address, protocol and port. A Service keeps what
 * it gives up until `settle` reports that the change is written and in the gateways' state.
 */
export class PortMapper {
  readonly #slots = new Map<number, PortSlot>();
  readonly #byPort = new Map<string, PortSlot>();
  /** Slots by the sharing group that may join, and by each address that reaches them. */
  readonly #bySharingGroup = new SmallSets<string, PortSlot>();
  readonly #byAddress = new Map<Address, PortSlot>();
  readonly #unused = new Set<PortSlot>();
  readonly #byOwner = { 4: new Map<string, Stand>(), 6: new Map<string, Stand>() };
  readonly #isRetiring: (port: L2Port) => boolean;
  #next = 1;

  /** `isRetiring` returns whether only the present users keep the port. */
  constructor(isRetiring: (port: L2Port) => boolean = () => false) {
    this.#isRetiring = isRetiring;
  }

  /**
   * Restores the placements before a restart. One total order decides conflicts: the address in the status,
   * then in the annotation, then the older Service, then the UID. A Service with an annotation of no port is
   * placed by its status. Returns the owners that lost their port and must be placed again.
   */
  restore(
    ports: readonly L2Port[],
    allocations: readonly PriorAllocation[],
  ): readonly PriorAllocation[] {
    for (const port of ports) this.#addKnownPort(port);
    const losers: PriorAllocation[] = [];
    const shown = new Set<PortSlot>();
    const portAt = (address: Address) => this.#byAddress.get(address)?.port;
    const judged = allocations.map(
      (allocation) => [allocation, standingOf(allocation, portAt)] as const,
    );
    for (const [allocation, standing] of judged.sort(compareAllocations)) {
      const { owner, namespace, held, family } = allocation;
      const named = this.#byPort.get(allocation.portId);
      const shownSlots = allocation.advertised.flatMap(
        (address) => this.#byAddress.get(address) ?? [],
      );
      const slot = [named, ...shownSlots].find(
        (each): each is PortSlot =>
          each?.family === family &&
          userOf(each, held, owner) === undefined &&
          (shownSlots.includes(each) || mayJoin(each, allocation, standing, shown.has(each))),
      );
      if (slot === undefined) losers.push(allocation);
      else {
        const sharingGroup =
          standing === 'unfounded' ? allocation.ownSharingGroup : allocation.sharingGroup;
        this.#use(slot, owner, { namespace, sharingGroup, held, asked: held });
        if (standing === 'shown') shown.add(slot);
      }
    }
    return losers;
  }

  /** Restores the placements of Services that appear after the restart, as far as their status shows them. */
  rejoin(allocations: readonly PriorAllocation[]): void {
    const portAt = (address: Address) => this.#byAddress.get(address)?.port;
    const late = allocations.filter(
      (each) =>
        this.slotOf(each.owner, each.family) === undefined && standingOf(each, portAt) === 'shown',
    );
    this.restore([], late);
  }

  /** Reserves. A Service keeps its port if the request still fits there. */
  place(request: PlacementRequest): Placement {
    const { slot, from } = this.#standOf(request.owner, request.family) ?? {};
    // The former port is preferred, if it still exists.
    for (const own of [from, slot]) {
      if (own === undefined || (request.leavesRetiring === true && this.#retires(own))) continue;
      if (fits(own, request) && mayStay(own, request)) {
        return this.#placed(own, request);
      }
    }
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return refusal;
    const other = this.#bestSlot(request);
    if (other !== undefined) return this.#placed(other, request);
    const made = this.#newSlot(request.family, request.requested);
    this.#placed(made, request);
    return { kind: 'make', slot: made, requested: request.requested };
  }

  /**
   * Called when the placement is written on the Service and in the gateways' state. Releases everything else
   * of the owner, in these families and in others. Returns whether anything became free.
   */
  settle(owner: string, families: readonly Family[]): boolean {
    let isFreed = false;
    for (const family of [4, 6] as const) {
      const { slot, from } = this.#standOf(owner, family) ?? {};
      if (slot === undefined) continue;
      const holding = slot.users.get(owner);
      if (!families.includes(family)) this.release(owner, [family]);
      else if (holding !== undefined) this.#use(slot, owner, { ...holding, held: holding.asked });
      isFreed ||= from !== undefined || !families.includes(family) || hasGivenUp(holding);
      if (from !== undefined) this.#leave(from, owner);
    }
    return isFreed;
  }

  /**
   * Sets the created or changed port of the slot. An address is assigned once, so another port with this
   * address is lost, even if this was not detected yet. Returns the users of that port.
   */
  made(slot: PortSlot, port: L2Port): readonly string[] {
    if (!this.#slots.has(slot.number)) {
      // The slot was released during the creation: the port is unused and must be deleted.
      return this.#addKnownPort(port);
    }
    const holder = this.#byAddress.get(port.address);
    const isGone = holder !== slot && holder?.port?.address === port.address;
    const displaced = holder !== undefined && isGone ? this.lost(holder) : [];
    if (slot.port !== undefined) this.#unlist(slot, slot.port);
    slot.port = port;
    this.#byPort.set(port.id, slot);
    this.#byAddress.set(port.address, slot).set(port.publicAddress, slot);
    return displaced;
  }

  /**
   * Called if the port could not be created, or was lost. Users that came from another port return to it, the
   * others have none.
   */
  lost(slot: PortSlot): readonly string[] {
    const users = [...slot.users.keys()];
    for (const owner of users) {
      this.#leave(slot, owner);
      this.#stayAtHeld(owner, slot.family);
    }
    this.#forget(slot);
    return users;
  }

  /** Releases the Service, or its given families. Returns the slots without users. */
  release(owner: string, families: readonly Family[] = [4, 6]): readonly PortSlot[] {
    const stands = families.flatMap((family) => this.#standOf(owner, family) ?? []);
    const slots = stands.flatMap(({ slot, from }) => (from === undefined ? [slot] : [from, slot]));
    for (const slot of slots) this.#leave(slot, owner);
    return slots.filter(({ users }) => users.size === 0);
  }

  /** Removes an unused slot, right before its port is deleted. */
  retire(slot: PortSlot): void {
    this.#forget(slot);
  }

  slotOf(owner: string, family: Family): PortSlot | undefined {
    return this.#standOf(owner, family)?.slot;
  }

  /** The slot and the ports on which the Service is served according to its annotation. */
  heldBy(
    owner: string,
    family: Family,
  ): { readonly slot: PortSlot; readonly held: readonly L4Port[] } | undefined {
    const stand = this.#standOf(owner, family);
    const slot = stand?.from ?? stand?.slot;
    const held = slot?.users.get(owner)?.held ?? [];
    return slot === undefined || held.length === 0 ? undefined : { slot, held };
  }

  slotOfPort(portId: string): PortSlot | undefined {
    return this.#byPort.get(portId);
  }

  knownPorts(): readonly L2Port[] {
    return [...this.#byPort.values()].flatMap(({ port }) => port ?? []);
  }

  /** Whether a Service has this protocol and port on the address, or will have it. */
  isHeld(address: Address, port: L4Port): boolean {
    return [...this.#byPort.values()].some(
      (slot) => slot.port?.address === address && userOf(slot, [port], '') !== undefined,
    );
  }

  usedPorts(): readonly L2Port[] {
    return [...this.#byPort.values()].flatMap(({ port, users }) =>
      port === undefined || users.size === 0 ? [] : port,
    );
  }

  unused(): readonly PortSlot[] {
    return [...this.#unused];
  }

  #standOf(owner: string, family: Family): Stand | undefined {
    return this.#byOwner[family].get(owner);
  }

  #addKnownPort(port: L2Port): readonly string[] {
    return this.made(this.#newSlot(port.family, undefined), port);
  }

  /** Only a request for a certain address can be rejected; any other gets a new port. */
  #refusal(request: PlacementRequest): Placement | undefined {
    if (request.requested === undefined) return undefined;
    const holder = this.#byAddress.get(request.requested);
    if (holder === undefined) return undefined;
    if (holder.users.size === 0 && !holder.isOffered) return { kind: 'leaving' };
    const [other] = [...holder.users.keys()].filter((owner) => owner !== request.owner);
    if (other !== undefined && holder.sharingGroup !== request.sharingGroup) {
      return { kind: 'refused', reason: 'other-sharing-group', by: other };
    }
    const taken = userOf(holder, request.needs, request.owner);
    return taken === undefined ? undefined : { kind: 'refused', reason: 'taken', by: taken };
  }

  /**
   * The oldest fitting port, so that the result is deterministic. Never an unused one: it is being removed,
   * and a gateway may still announce it for its former owner.
   */
  #bestSlot(request: PlacementRequest): PortSlot | undefined {
    const requested = request.requested && this.#byAddress.get(request.requested);
    if (requested !== undefined) return fits(requested, request) ? requested : undefined;
    let oldest: PortSlot | undefined;
    for (const slot of this.#bySharingGroup.of(request.sharingGroup)) {
      const isOlder = oldest === undefined || slot.number < oldest.number;
      const isOpen = slot.users.size > 0 && !this.#retires(slot);
      if (isOlder && isOpen && fits(slot, request)) oldest = slot;
    }
    return oldest;
  }

  #retires({ port }: PortSlot): boolean {
    return port !== undefined && this.#isRetiring(port);
  }

  /** Puts the Service onto the slot. Its other ports stay reserved until `settle`. */
  #placed(
    slot: PortSlot,
    { owner, namespace, sharingGroup, needs, family }: PlacementRequest,
  ): Placement {
    const stand = this.#standOf(owner, family);
    for (const before of [stand?.from, stand?.slot]) {
      const holding = before?.users.get(owner);
      if (before === undefined || before === slot || holding === undefined) continue;
      if (holding.held.length === 0) this.#leave(before, owner);
      else this.#use(before, owner, { ...holding, asked: [] });
    }
    const held = slot.users.get(owner)?.held ?? [];
    this.#use(slot, owner, { namespace, sharingGroup, held, asked: needs });
    return { kind: 'placed', slot };
  }

  /** Keeps a Service on its former port if the new port is lost. */
  #stayAtHeld(owner: string, family: Family): void {
    const { slot } = this.#standOf(owner, family) ?? {};
    const holding = slot?.users.get(owner);
    if (slot === undefined || holding === undefined || holding.asked.length > 0) return;
    this.#use(slot, owner, { ...holding, asked: holding.held });
  }

  #newSlot(family: Family, requested: Address | undefined): PortSlot {
    const number = this.#next;
    this.#next += 1;
    const slot: PortSlot = {
      number,
      family,
      requested,
      port: undefined,
      sharingGroup: undefined,
      users: new Map(),
      isOffered: false,
    };
    this.#slots.set(number, slot);
    this.#unused.add(slot);
    if (requested !== undefined) this.#byAddress.set(requested, slot);
    return slot;
  }

  #use(slot: PortSlot, owner: string, holding: Holding): void {
    slot.users.set(owner, holding);
    this.#unused.delete(slot);
    this.#usersChanged(slot, owner);
  }

  #leave(slot: PortSlot, owner: string): void {
    slot.users.delete(owner);
    if (slot.users.size === 0) this.#unused.add(slot);
    this.#usersChanged(slot, owner);
  }

  #usersChanged(slot: PortSlot, owner: string): void {
    const sharingGroup = sharingGroupOfUsers(slot);
    if (sharingGroup !== slot.sharingGroup) this.#moveToSharingGroup(slot, sharingGroup);
    const stands = this.#byOwner[slot.family];
    const stand = nextStand(stands.get(owner), slot, owner);
    if (stand === undefined) stands.delete(owner);
    else stands.set(owner, stand);
  }

  #forget(slot: PortSlot): void {
    this.#slots.delete(slot.number);
    this.#unused.delete(slot);
    if (slot.port !== undefined) this.#unlist(slot, slot.port);
    if (slot.requested !== undefined) this.#unlistAddress(slot, slot.requested);
    this.#moveToSharingGroup(slot, undefined);
  }

  #moveToSharingGroup(slot: PortSlot, sharingGroup: string | undefined): void {
    if (slot.sharingGroup !== undefined) this.#bySharingGroup.delete(slot.sharingGroup, slot);
    slot.sharingGroup = sharingGroup;
    if (sharingGroup !== undefined) this.#bySharingGroup.add(sharingGroup, slot);
  }

  #unlist(slot: PortSlot, port: L2Port): void {
    this.#byPort.delete(port.id);
    for (const address of [port.address, port.publicAddress]) this.#unlistAddress(slot, address);
  }

  #unlistAddress(slot: PortSlot, address: Address): void {
    if (this.#byAddress.get(address) === slot) this.#byAddress.delete(address);
  }
}

/** The placement of a Service after a change on one slot. */
function nextStand(before: Stand | undefined, slot: PortSlot, owner: string): Stand | undefined {
  const others = [before?.from, before?.slot].filter((other) => other !== slot);
  const all = [...others, slot].filter((each): each is PortSlot => each?.users.has(owner) === true);
  const leaving = all.find((each) => each.users.get(owner)?.asked.length === 0);
  const there = all.find((each) => each !== leaving);
  if (there !== undefined) return { slot: there, from: leaving };
  return leaving === undefined ? undefined : { slot: leaving, from: undefined };
}

function hasGivenUp(holding: Holding | undefined): boolean {
  const { held = [], asked = [] } = holding ?? {};
  return held.some(
    (one) => !asked.some(({ port, protocol }) => port === one.port && protocol === one.protocol),
  );
}
