import type { Address, Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import { MissedPorts } from './missed-ports.ts';
import type { LostPort, PortManager } from './port-manager.ts';
import { PortNotes, type PortNote } from './port-notes.ts';
import { PortMapper } from './port-mapper.ts';
import type { L2Port, PlacementRequest, PortSlot } from './port-slot.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';
import type { L4Port } from '../../../services/l4-port.ts';
import { groupByPort, isElsewhere, type PriorAllocation } from './allocation-order.ts';
import type { Reservation } from './reservation.ts';

/**
 * Combines the mapper, which decides at once, with the slower manager. All Services on a port wait for its creation.
 */
export class PortKeeper {
  readonly #mapper: PortMapper;
  readonly #manager: PortManager;
  readonly #making = new Map<PortSlot, Promise<L2Port>>();
  readonly #markers = new Set<string>();
  readonly #newMarker: () => string;
  /** The Services that want to keep the floating IP of their port. */
  readonly #keepers = new Set<string>();
  /** Ports of Services that are not taken over yet. Nothing is changed on them before. */
  readonly #notTakenOver = new Set<string>();
  readonly #missed = new MissedPorts();
  readonly #notes = new PortNotes();
  /** Ports that are being deleted, or were deleted since the last list began, which may still show them. */
  readonly #retired = new Map<string, 'going' | 'gone'>();
  /** Takes the owners whose ports have changed without their own reconcile. */
  readonly #reasons: ReasonSink;

  constructor(manager: PortManager, newMarker: () => string, reasons: ReasonSink) {
    this.#manager = manager;
    this.#mapper = new PortMapper(({ address }) => manager.standingOf(address) !== 'listed');
    this.#newMarker = newMarker;
    this.#reasons = reasons;
  }

  /**
   * Restores the state before a restart. Recreates lost ports for their Services. Returns the Services that
   * must be placed again.
   */
  async restore(
    prior: readonly PriorAllocation[],
    signal: AbortSignal,
  ): Promise<readonly PriorAllocation[]> {
    const named = new Set(prior.map(({ portId }) => portId));
    const listed = await this.#manager.list(named, this.#markers, signal);
    const ports = new Map(listed.map((port) => [port.id, port]));
    // A Service with another port's address in its status does not count for this port, and needs no
    // recreation.
    const byAddress = new Map(
      listed.flatMap((port) => [port.address, port.publicAddress].map((each) => [each, port])),
    );
    const portAt = (address: Address) => byAddress.get(address);
    const byPort = groupByPort(prior.filter((each) => !isElsewhere(each, portAt)));
    for (const [id, sharers] of byPort) {
      const port = await this.#bringBack(ports.get(id), sharers, signal);
      if (port !== undefined) ports.set(id, port);
    }
    for (const { owner, keepsPublic } of prior) if (keepsPublic === true) this.#keepers.add(owner);
    const moved = prior.map((allocation) => ({
      ...allocation,
      portId: ports.get(allocation.portId)?.id ?? allocation.portId,
    }));
    const losers = this.#mapper.restore([...ports.values()], moved);
    await this.#manager.record(this.#mapper.usedPorts());
    return losers;
  }

  /**
   * Puts a Service without a port back onto the port whose address its status shows. The API server may not have
   * had the Service at the start.
   */
  rejoin(prior: readonly PriorAllocation[]): void {
    this.#mapper.rejoin(prior.filter(({ isTakenOver }) => isTakenOver));
  }

  /** The former port of Services, existing or recreated. */
  async #bringBack(
    present: L2Port | undefined,
    sharers: readonly PriorAllocation[],
    signal: AbortSignal,
  ): Promise<L2Port | undefined> {
    const [first] = sharers;
    const allocation = sharers.find(({ isTakenOver }) => isTakenOver) ?? first;
    if (allocation === undefined) return present;
    const { portId: id, family, publicAddress, advertised } = allocation;
    const owners = sharers.map(({ owner }) => owner);
    const found = present ?? (await this.#manager.find(id, signal));
    if (!allocation.isTakenOver) {
      if (found === undefined)
        this.#missed.add(owners, family, { id, publicAddress: advertised[0] });
      else this.#notTakenOver.add(id);
      return found;
    }
    const port = found ?? (await this.#recover({ id, publicAddress }, family, owners, signal));
    if (port === undefined) return undefined;
    const mended = await this.#mend(port, publicAddress, signal);
    this.#notes.changed(owners, publicAddress, mended);
    return mended;
  }

  /** Reserves before any await, then waits until the port exists. */
  async reserve(request: PlacementRequest, signal: AbortSignal): Promise<Reservation> {
    const placement = this.#mapper.place(request);
    if (placement.kind === 'refused' || placement.kind === 'leaving') return placement;
    const { slot } = placement;
    if (slot.port !== undefined) {
      if (slot.isOffered) await this.#manager.record([slot.port]);
      slot.isOffered = false;
      return { kind: 'port', port: slot.port };
    }
    const making = this.#making.get(slot) ?? this.#make(slot, signal);
    return { kind: 'port', port: await making };
  }

  /** The ports that the owner has, by family. */
  portsOf(owner: string): ReadonlyMap<Family, L2Port> {
    const ports = new Map<Family, L2Port>();
    for (const family of [4, 6] as const) {
      const port = this.#mapper.slotOf(owner, family)?.port;
      if (port !== undefined) ports.set(family, port);
    }
    return ports;
  }

  release(owner: string): void {
    this.#keepers.delete(owner);
    this.#notes.forget(owner);
    this.#missed.forget(owner);
    this.#mapper.release(owner);
  }

  /** The ports that the owner holds according to its annotation, by family. */
  heldBy(
    owner: string,
  ): ReadonlyMap<Family, { readonly port: L2Port; readonly held: readonly L4Port[] }> {
    const all = new Map<Family, { readonly port: L2Port; readonly held: readonly L4Port[] }>();
    for (const family of [4, 6] as const) {
      const { slot, held = [] } = this.#mapper.heldBy(owner, family) ?? {};
      if (slot?.port !== undefined) all.set(family, { port: slot.port, held });
    }
    return all;
  }

  /**
   * Called when the new placement in these families is written and in the gateways' state. Releases
   * everything else of the owner. Returns whether anything became free.
   */
  settle(owner: string, families: readonly Family[]): boolean {
    this.#missed.forget(owner);
    return this.#mapper.settle(owner, families);
  }

  /** Called when the owner has Causeway's finalizer: marks its ports and restores missing parts. */
  async takeOver(owner: string, signal: AbortSignal): Promise<void> {
    for (const port of this.portsOf(owner).values()) {
      if (!this.#notTakenOver.has(port.id)) continue;
      await this.#manager.mark(port, signal);
      const mended = await this.#manager.mend(port, undefined, signal);
      const slot = this.#mapper.slotOfPort(port.id);
      if (slot !== undefined) this.#publish(this.#mapper.made(slot, mended));
      this.#notTakenOver.delete(port.id);
    }
  }

  /** The pending Event for the owner. It is returned once. */
  takeNote(owner: string): PortNote | undefined {
    return this.#notes.take(owner);
  }

  /** Unused ports that may be deleted. */
  unused(): readonly L2Port[] {
    return this.#withoutUsers().filter((port) => this.#manager.isRecorded(port));
  }

  /** Orphans: ports that no Service uses and that the cluster's own record does not have. They stay. */
  held(): readonly L2Port[] {
    return this.#withoutUsers().filter((port) => !this.#manager.isRecorded(port));
  }

  /** Whether a Service that requests the address of an orphan gets it. */
  isOffered({ id }: L2Port): boolean {
    return this.#mapper.slotOfPort(id)?.isOffered === true;
  }

  /** Called when no gateway announces the orphan. */
  offer({ id }: L2Port): void {
    const slot = this.#mapper.slotOfPort(id);
    if (slot !== undefined) slot.isOffered = true;
  }

  #withoutUsers(): readonly L2Port[] {
    return this.#mapper.unused().flatMap(({ port }) => port ?? []);
  }

  /** All known ports, used or not. */
  ports(): readonly L2Port[] {
    return this.#mapper.knownPorts();
  }

  /** Whether a Service has this protocol and port on the address, or will have it. */
  isHeld(address: Address, port: L4Port): boolean {
    return this.#mapper.isHeld(address, port);
  }

  /** The addresses of all ports; `addressesInUse` has only those with users. */
  addresses(): readonly Address[] {
    return this.#mapper.knownPorts().map(({ address }) => address);
  }

  addressesInUse(): readonly Address[] {
    return this.#mapper.usedPorts().map(({ address }) => address);
  }

  /**
   * Sets whether the owner wants to keep the floating IP of its ports after their deletion. It is marked at
   * once, because no Service may be left when the port is deleted. One such user is enough for a shared port.
   */
  async keepPublic(owner: string, isKept: boolean, signal: AbortSignal): Promise<void> {
    if (isKept) this.#keepers.add(owner);
    else this.#keepers.delete(owner);
    for (const { id } of this.portsOf(owner).values()) {
      const slot = this.#mapper.slotOfPort(id);
      if (slot?.port === undefined) continue;
      const isWanted = [...slot.users.keys()].some((user) => this.#keepers.has(user));
      if (isWanted === (slot.port.keepsPublic === true)) continue;
      this.#mapper.made(slot, await this.#manager.keepPublic(slot.port, isWanted, signal));
    }
  }

  /** Deletes an unused port. */
  async retire(port: L2Port, signal: AbortSignal): Promise<void> {
    const slot = this.#mapper.slotOfPort(port.id);
    if (slot === undefined || slot.users.size > 0) return;
    this.#mapper.retire(slot);
    this.#retired.set(port.id, 'going');
    try {
      await this.#manager.delete(port, signal);
      this.#retired.set(port.id, 'gone');
    } catch (error) {
      this.#retired.delete(port.id);
      // The port still exists and is unused: the deletion is retried.
      this.#mapper.restore([port], []);
      throw error;
    }
  }

  /**
   * Compares the known ports with those of the manager. Recreates lost ports, with their former addresses if
   * possible. Unknown ports become unused ones. Returns the owners that must be reconciled. Also reports them
   * at once, because a later step may fail. `advertised` has the addresses in the status of Services. Creates
   * nothing for owners on hold.
   */
  async findDrift(
    advertised: ReadonlySet<Address>,
    signal: AbortSignal,
    isOnHold: (owner: string) => boolean = () => false,
  ): Promise<readonly string[]> {
    for (const [id, state] of this.#retired) if (state === 'gone') this.#retired.delete(id);
    const before = this.#mapper.knownPorts();
    const named = new Set(before.map(({ id }) => id));
    const listed = await this.#manager.list(named, this.#markers, signal);
    const present = new Map(listed.map((port) => [port.id, port]));
    const orphans = listed.filter(
      ({ id }) => this.#mapper.slotOfPort(id) === undefined && !this.#retired.has(id),
    );
    this.#mapper.restore(orphans, []);
    const concerned: string[] = [];
    for (const known of before) {
      const found = present.get(known.id) ?? (await this.#findUsed(known.id, signal));
      const owners = await this.#compare(known, found, isOnHold, signal);
      this.#publish(owners);
      concerned.push(...owners);
    }
    const portIds = new Set(this.#mapper.knownPorts().map(({ id }) => id));
    await this.#manager.sweep(portIds, advertised, signal);
    await this.#manager.record(this.#mapper.usedPorts());
    return concerned;
  }

  /** A used port that one list misses is not lost yet: it is read by its ID. */
  async #findUsed(id: string, signal: AbortSignal): Promise<L2Port | undefined> {
    const isUsed = (this.#mapper.slotOfPort(id)?.users.size ?? 0) > 0;
    return isUsed ? this.#manager.find(id, signal) : undefined;
  }

  /** Reconciles one known port with the manager's state. */
  async #compare(
    known: L2Port,
    found: L2Port | undefined,
    isOnHold: (owner: string) => boolean,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const slot = this.#mapper.slotOfPort(known.id);
    if (slot === undefined) return [];
    if (slot.users.size === 0) return found === undefined ? this.#mapper.lost(slot) : [];
    const owners = [...slot.users.keys()];
    if (found?.publicAddress !== known.publicAddress && owners.every(isOnHold)) {
      this.#notTakenOver.add(known.id);
    }
    if (found === undefined && this.#notTakenOver.delete(known.id)) {
      this.#missed.add(owners, known.family, known);
      return this.#mapper.lost(slot);
    }
    if (found === undefined) {
      const port = await this.#recover(known, known.family, owners, signal);
      if (port === undefined) return this.#mapper.lost(slot);
      return this.#replace(slot, await this.#mend(port, known.publicAddress, signal), known);
    }
    if (this.#notTakenOver.has(known.id)) return [];
    const mended = await this.#mend(found, known.publicAddress, signal);
    const isSame = mended.publicAddress === known.publicAddress && mended.missing === known.missing;
    return isSame ? [] : this.#replace(slot, mended, known);
  }

  #publish(owners: readonly string[]): void {
    for (const owner of owners) this.#reasons.add({ kind: 'ports-changed', owner });
  }

  /** Puts another port on the slot. Its users may have left during the creation. */
  #replace(slot: PortSlot, port: L2Port, known: L2Port): readonly string[] {
    const displaced = this.#mapper.made(slot, port);
    const users = [...slot.users.keys()];
    this.#notes.changed(users, known.publicAddress, port);
    return [...users, ...displaced];
  }

  /** A replacement of a lost port. Undefined if it can't be created: its users are placed again. */
  async #recover(
    { id, address, publicAddress }: LostPort,
    family: Family,
    owners: readonly string[],
    signal: AbortSignal,
  ): Promise<L2Port | undefined> {
    const marker = this.#newMarker();
    this.#markers.add(marker);
    const instead = { id, address, publicAddress };
    try {
      return await this.#manager.create({ family, requested: undefined, marker, instead }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      this.#missed.add(owners, family, instead);
      this.#notes.lost(owners, instead, CausewayError.from(error).message);
      return undefined;
    } finally {
      this.#markers.delete(marker);
    }
  }

  /** A floating IP that is not available now is retried with the next drift check. */
  async #mend(port: L2Port, known: Address | undefined, signal: AbortSignal): Promise<L2Port> {
    await this.#mark(port, signal);
    try {
      return await this.#manager.mend(port, known, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const missing = CausewayError.from(error).message;
      return known === undefined ? port : { ...port, publicAddress: known, missing };
    }
  }

  /** A failure to write marks does not affect the address. It is retried too. */
  async #mark(port: L2Port, signal: AbortSignal): Promise<void> {
    try {
      await this.#manager.mark(port, signal);
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }

  #make(slot: PortSlot, signal: AbortSignal): Promise<L2Port> {
    const marker = this.#newMarker();
    this.#markers.add(marker);
    const { family, requested } = slot;
    const instead = this.#missed.of(slot);
    const making = this.#manager
      .create({ family, requested, marker, instead }, signal)
      .then(
        (port) => {
          this.#publish(this.#mapper.made(slot, port));
          const owners = [...slot.users.keys()];
          this.#notes.changed(owners, instead?.publicAddress, port);
          return port;
        },
        (error: unknown) => {
          this.#mapper.lost(slot);
          throw CausewayError.from(error);
        },
      )
      .finally(() => {
        this.#making.delete(slot);
        this.#markers.delete(marker);
      });
    this.#making.set(slot, making);
    return making;
  }
}
