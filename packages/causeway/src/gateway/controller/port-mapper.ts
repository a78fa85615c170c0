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
import type { L4Port } from '../../services/l4-port.ts';

/**
 * Where a Service goes: onto a port that is there (or is being made for somebody else at this very
 * moment), onto a new one that the caller must make, or nowhere, and why.
 */
export type Placement =
  | { readonly kind: 'placed'; readonly slot: PortSlot }
  | { readonly kind: 'make'; readonly slot: PortSlot; readonly requested: Address | undefined }
  | {
      readonly kind: 'refused';
      readonly reason: 'taken' | 'other-sharing-group';
      readonly by: string;
    }
  /** The requested address is on its way out: a gateway may still announce it for who had it. */
  | { readonly kind: 'leaving' };

/** Where a Service is in one family. While it moves, it still has what it held `from` before. */
interface Stand {
  readonly slot: PortSlot;
  readonly from: PortSlot | undefined;
}

/**
 * Who serves on what. It lives in memory and answers at once, so that an address is reserved before
 * anything is awaited: two workers can never be given the same address, protocol and port. What a
 * Service gives up is its own until `settle` says that this is written and told to the gateways.
 */
export class PortMapper {
  readonly #slots = new Map<number, PortSlot>();
  readonly #byPort = new Map<string, PortSlot>();
  /** Slots by the circle that may join, and by each address that reaches them. */
  readonly #bySharingGroup = new SmallSets<string, PortSlot>();
  readonly #byAddress = new Map<Address, PortSlot>();
  readonly #unused = new Set<PortSlot>();
  readonly #byOwner = { 4: new Map<string, Stand>(), 6: new Map<string, Stand>() };
  #next = 1;

  /**
   * Takes in what Services had before a restart. Conflicts are settled by one total order: whose status
   * tells the address, then who has it in the annotation, then who was created first, then by UID. One
   * whose annotation leads nowhere is where its status says. Answers with the owners that lost theirs and
   * must be placed anew.
   */
  restore(
    ports: readonly L2Port[],
    claims: readonly PriorAllocation[],
  ): readonly PriorAllocation[] {
    for (const port of ports) this.#addKnownPort(port);
    const losers: PriorAllocation[] = [];
    const shown = new Set<PortSlot>();
    const portAt = (address: Address) => this.#byAddress.get(address)?.port;
    const judged = claims.map((claim) => [claim, standingOf(claim, portAt)] as const);
    for (const [claim, standing] of judged.sort(compareAllocations)) {
      const { owner, namespace, held, family } = claim;
      const named = this.#byPort.get(claim.portId);
      const told = claim.advertised.flatMap((address) => this.#byAddress.get(address) ?? []);
      const slot = [named, ...told].find(
        (each): each is PortSlot =>
          each?.family === family &&
          userOf(each, held, owner) === undefined &&
          (told.includes(each) || mayJoin(each, claim, standing, shown.has(each))),
      );
      if (slot === undefined) losers.push(claim);
      else {
        const sharingGroup = standing === 'unfounded' ? claim.ownSharingGroup : claim.sharingGroup;
        this.#use(slot, owner, { namespace, sharingGroup, held, asked: held });
        if (standing === 'shown') shown.add(slot);
      }
    }
    return losers;
  }

  /** Reserves. A Service keeps the port it has if what it needs still fits there. */
  place(request: PlacementRequest): Placement {
    const { slot, from } = this.#standOf(request.owner, request.family) ?? {};
    // Back where it was before, if it is still there.
    for (const own of [from, slot]) {
      if (own !== undefined && fits(own, request) && mayStay(own, request)) {
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
   * What the Service was given is written on it and in the gateways' state: it has nothing else any more,
   * in these families or in others. Answers whether anything became free by that.
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
   * The port that was being made is there, or is another one than it was. An address is given once, so
   * a port that had it before is gone, even if nobody has noticed yet; answers with who was on that one.
   */
  made(slot: PortSlot, port: L2Port): readonly string[] {
    if (!this.#slots.has(slot.number)) {
      // Given up while the port was made: it is nobody's, but it is there and must be deleted.
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

  /** The port could not be made, or was lost: whoever came from another one is there again, the others are nowhere. */
  lost(slot: PortSlot): readonly string[] {
    const users = [...slot.users.keys()];
    for (const owner of users) {
      this.#leave(slot, owner);
      this.#stayAtHeld(owner, slot.family);
    }
    this.#forget(slot);
    return users;
  }

  /**
   * The Service needs nothing any more, or nothing in these families. Answers with the slots that
   * nobody uses now.
   */
  release(owner: string, families: readonly Family[] = [4, 6]): readonly PortSlot[] {
    const stands = families.flatMap((family) => this.#standOf(owner, family) ?? []);
    const slots = stands.flatMap(({ slot, from }) => (from === undefined ? [slot] : [from, slot]));
    for (const slot of slots) this.#leave(slot, owner);
    return slots.filter(({ users }) => users.size === 0);
  }

  /** Takes an unused slot out, right before its port is deleted. */
  retire(slot: PortSlot): void {
    this.#forget(slot);
  }

  slotOf(owner: string, family: Family): PortSlot | undefined {
    return this.#standOf(owner, family)?.slot;
  }

  /** Where the Service is served by what is written on it, and with which ports. */
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

  /** Whether a Service has this protocol and port on the address, or is about to have it. */
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

  /** Only a request for one address can be refused; any other gets a new port. */
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
   * The oldest port that it fits on, so that the answer does not depend on chance. Never one that
   * nobody uses: that is on its way out, and a gateway may still announce it for who had it.
   */
  #bestSlot(request: PlacementRequest): PortSlot | undefined {
    const requested = request.requested && this.#byAddress.get(request.requested);
    if (requested !== undefined) return fits(requested, request) ? requested : undefined;
    let oldest: PortSlot | undefined;
    for (const slot of this.#bySharingGroup.of(request.sharingGroup)) {
      const isOlder = oldest === undefined || slot.number < oldest.number;
      if (isOlder && slot.users.size > 0 && fits(slot, request)) oldest = slot;
    }
    return oldest;
  }

  /** Puts the Service onto the slot. What it holds elsewhere stays reserved until that is settled. */
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

  /** Who was about to leave for a port that is no more stays. */
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

/** Where a Service is, once what it has on one slot has changed. */
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
