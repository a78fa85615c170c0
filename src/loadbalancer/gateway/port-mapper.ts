import type { Address, Family } from '../../domain/address.ts';
import type { Port, Protocol } from '../../domain/port.ts';

/** A protocol and a port on an address: what two Services can't share. */
export interface L4Port {
  readonly protocol: Protocol;
  readonly port: Port;
}

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
}

export interface PlacementRequest {
  /** The UID of the Service. */
  readonly owner: string;
  readonly family: Family;
  readonly needs: readonly L4Port[];
  /**
   * Services share an address only within one circle: their namespace, or the sharing key that all
   * of them name.
   */
  readonly circle: string;
  /** Serve on this address and on no other. */
  readonly requested?: Address | undefined;
}

/**
 * Where a Service goes: onto a port that is there (or is being made for somebody else at this very
 * moment), onto a new one that the caller must make, or nowhere, and why.
 */
export type Placement =
  | { readonly kind: 'placed'; readonly slot: PortSlot }
  | { readonly kind: 'make'; readonly slot: PortSlot; readonly requested: Address | undefined }
  | { readonly kind: 'refused'; readonly reason: 'taken' | 'other-circle'; readonly by: string }
  /** The requested address is on its way out: a gateway may still announce it for who had it. */
  | { readonly kind: 'leaving' };

/** What is known of one L2 port. Its `port` is undefined while it is being made. */
export interface PortSlot {
  /** Unique for the life of the mapper, also before the port has an id. */
  readonly number: number;
  readonly family: Family;
  port: L2Port | undefined;
  /** Undefined when what shares it came from before circles: nobody new joins. */
  readonly circle: string | undefined;
  readonly requested: Address | undefined;
  readonly users: Map<string, readonly L4Port[]>;
}

/** Which Service had which port before, as its annotation says. */
export interface PriorClaim {
  readonly owner: string;
  readonly circle: string;
  readonly needs: readonly L4Port[];
  readonly portId: string;
  readonly family: Family;
  /** Whether it asks for what it held before; what it asks for since then comes after what others hold. */
  readonly isAsItWas: boolean;
  readonly createdAt: string;
  /** The address that users know, so that a port that was lost can be made again with it. */
  readonly publicAddress?: Address | undefined;
  /** Whether it wants the floating IP to be kept. */
  readonly keepsPublic?: boolean | undefined;
}

/**
 * Who serves on what. It lives in memory and answers at once, so that an address is reserved before
 * anything is awaited: two workers can never be given the same address, protocol and port.
 */
export class PortMapper {
  readonly #slots = new Map<number, PortSlot>();
  readonly #byPort = new Map<string, PortSlot>();
  /** Slots by the circle that may join, oldest first; and by each address that reaches them. */
  readonly #byCircle = new Map<string, Set<PortSlot>>();
  readonly #byAddress = new Map<Address, PortSlot>();
  readonly #unused = new Set<PortSlot>();
  readonly #byOwner = new Map<string, Map<Family, PortSlot>>();
  #next = 1;

  /**
   * Takes in what Services had before a restart. Conflicts are settled by one total order: who held it
   * already, then who was created first, then by UID. Answers with the owners that lost theirs and must be placed anew.
   */
  restore(ports: readonly L2Port[], claims: readonly PriorClaim[]): readonly PriorClaim[] {
    const circles = circlesByPort(claims);
    for (const port of ports) this.#addKnownPort(port, circles.get(port.id));
    const losers: PriorClaim[] = [];
    for (const claim of [...claims].sort(compareClaims)) {
      const slot = this.#byPort.get(claim.portId);
      if (slot === undefined || !isFree(slot, claim.needs, claim.owner)) losers.push(claim);
      else this.#use(slot, claim.owner, claim.needs);
    }
    return losers;
  }

  /** Reserves. A Service keeps the port it has if what it needs still fits there. */
  place(request: PlacementRequest): Placement {
    const current = this.slotOf(request.owner, request.family);
    if (current !== undefined && fits(current, request)) return this.#placed(current, request);
    const refusal = this.#refusal(request);
    if (refusal !== undefined) return refusal;
    if (current !== undefined) this.#leave(current, request.owner);
    const other = this.#bestSlot(request);
    if (other !== undefined) return this.#placed(other, request);
    const slot = this.#newSlot(request.family, request.circle, request.requested);
    this.#use(slot, request.owner, request.needs);
    return { kind: 'make', slot, requested: request.requested };
  }

  /**
   * The port that was being made is there, or is another one than it was. An address is given once, so
   * a port that had it before is gone, even if nobody has noticed yet; answers with who was on that one.
   */
  made(slot: PortSlot, port: L2Port): readonly string[] {
    if (!this.#slots.has(slot.number)) {
      // Given up while the port was made: it is nobody's, but it is there and must be deleted.
      return this.#addKnownPort(port, undefined);
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

  /** The port could not be made, or was lost: everyone on it is free to be placed anew. */
  lost(slot: PortSlot): readonly string[] {
    const users = [...slot.users.keys()];
    for (const owner of users) this.#leave(slot, owner);
    this.#forget(slot);
    return users;
  }

  /**
   * The Service needs nothing any more, or nothing in these families. Answers with the slots that
   * nobody uses now.
   */
  release(owner: string, families: readonly Family[] = [4, 6]): readonly PortSlot[] {
    const slots = families.flatMap((family) => this.slotOf(owner, family) ?? []);
    for (const slot of slots) this.#leave(slot, owner);
    return slots.filter(({ users }) => users.size === 0);
  }

  /** Takes an unused slot out, right before its port is deleted. */
  retire(slot: PortSlot): void {
    this.#forget(slot);
  }

  slotOf(owner: string, family: Family): PortSlot | undefined {
    return this.#byOwner.get(owner)?.get(family);
  }

  slotOfPort(portId: string): PortSlot | undefined {
    return this.#byPort.get(portId);
  }

  knownPorts(): readonly L2Port[] {
    return [...this.#byPort.values()].flatMap(({ port }) => port ?? []);
  }

  usedPorts(): readonly L2Port[] {
    return [...this.#byPort.values()].flatMap(({ port, users }) =>
      port === undefined || users.size === 0 ? [] : port,
    );
  }

  unused(): readonly PortSlot[] {
    return [...this.#unused];
  }

  #addKnownPort(port: L2Port, circles: ReadonlySet<string> | undefined): readonly string[] {
    const [only] = circles ?? [];
    const slot = this.#newSlot(port.family, circles?.size === 1 ? only : undefined, undefined);
    return this.made(slot, port);
  }

  #placed(slot: PortSlot, request: PlacementRequest): Placement {
    this.#use(slot, request.owner, request.needs);
    return { kind: 'placed', slot };
  }

  /** Only a request for one address can be refused; any other gets a new port. */
  #refusal(request: PlacementRequest): Placement | undefined {
    if (request.requested === undefined) return undefined;
    const holder = this.#byAddress.get(request.requested);
    if (holder === undefined) return undefined;
    if (holder.users.size === 0) return { kind: 'leaving' };
    const [other] = [...holder.users.keys()].filter((owner) => owner !== request.owner);
    if (other !== undefined && holder.circle !== request.circle) {
      return { kind: 'refused', reason: 'other-circle', by: other };
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
    for (const slot of this.#byCircle.get(request.circle) ?? []) {
      if (slot.users.size > 0 && fits(slot, request)) return slot;
    }
    return undefined;
  }

  #newSlot(family: Family, circle: string | undefined, requested: Address | undefined): PortSlot {
    const number = this.#next;
    this.#next += 1;
    const slot: PortSlot = { number, family, port: undefined, circle, requested, users: new Map() };
    this.#slots.set(number, slot);
    this.#unused.add(slot);
    if (requested !== undefined) this.#byAddress.set(requested, slot);
    if (circle === undefined) return slot;
    const members = this.#byCircle.get(circle);
    if (members === undefined) this.#byCircle.set(circle, new Set([slot]));
    else members.add(slot);
    return slot;
  }

  #use(slot: PortSlot, owner: string, needs: readonly L4Port[]): void {
    slot.users.set(owner, needs);
    this.#unused.delete(slot);
    const families = this.#byOwner.get(owner) ?? new Map<Family, PortSlot>();
    families.set(slot.family, slot);
    this.#byOwner.set(owner, families);
  }

  #leave(slot: PortSlot, owner: string): void {
    slot.users.delete(owner);
    if (slot.users.size === 0) this.#unused.add(slot);
    const families = this.#byOwner.get(owner);
    if (families?.get(slot.family) === slot) families.delete(slot.family);
    if (families?.size === 0) this.#byOwner.delete(owner);
  }

  #forget(slot: PortSlot): void {
    this.#slots.delete(slot.number);
    this.#unused.delete(slot);
    if (slot.port !== undefined) this.#unlist(slot, slot.port);
    if (slot.requested !== undefined) this.#unlistAddress(slot, slot.requested);
    if (slot.circle === undefined) return;
    const members = this.#byCircle.get(slot.circle);
    members?.delete(slot);
    if (members?.size === 0) this.#byCircle.delete(slot.circle);
  }

  #unlist(slot: PortSlot, port: L2Port): void {
    this.#byPort.delete(port.id);
    for (const address of [port.address, port.publicAddress]) this.#unlistAddress(slot, address);
  }

  #unlistAddress(slot: PortSlot, address: Address): void {
    if (this.#byAddress.get(address) === slot) this.#byAddress.delete(address);
  }
}

function circlesByPort(claims: readonly PriorClaim[]): Map<string, Set<string>> {
  const circles = new Map<string, Set<string>>();
  for (const { portId, circle } of claims) {
    const known = circles.get(portId);
    if (known === undefined) circles.set(portId, new Set([circle]));
    else known.add(circle);
  }
  return circles;
}

function fits(slot: PortSlot, request: PlacementRequest): boolean {
  if (slot.family !== request.family) return false;
  if (request.requested !== undefined && !serves(slot, request.requested)) return false;
  return isFree(slot, request.needs, request.owner);
}

function serves(slot: PortSlot, address: Address | undefined): boolean {
  if (slot.port === undefined) return slot.requested === address;
  return slot.port.address === address || slot.port.publicAddress === address;
}

function isFree(slot: PortSlot, needs: readonly L4Port[], owner: string): boolean {
  return userOf(slot, needs, owner) === undefined;
}

/** Who else uses one of these already. */
function userOf(slot: PortSlot, needs: readonly L4Port[], owner: string): string | undefined {
  for (const [user, theirs] of slot.users) {
    if (user === owner) continue;
    const clashes = theirs.some((their) =>
      needs.some((need) => need.port === their.port && need.protocol === their.protocol),
    );
    if (clashes) return user;
  }
  return undefined;
}

function compareClaims(left: PriorClaim, right: PriorClaim): number {
  if (left.isAsItWas !== right.isAsItWas) return left.isAsItWas ? -1 : 1;
  if (left.createdAt !== right.createdAt) return left.createdAt < right.createdAt ? -1 : 1;
  return left.owner < right.owner ? -1 : left.owner > right.owner ? 1 : 0;
}
