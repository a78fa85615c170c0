import type { Address, Family } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import type { LostPort, PortManager } from './port-manager.ts';
import {
  PortMapper,
  type L2Port,
  type PlacementRequest,
  type PortSlot,
  type PriorClaim,
} from './port-mapper.ts';

export type Reservation =
  | { readonly kind: 'port'; readonly port: L2Port }
  | { readonly kind: 'refused'; readonly reason: 'taken' | 'other-circle'; readonly by: string }
  | { readonly kind: 'leaving' };

/**
 * Joins the mapper, which decides at once, with the manager, which takes its time. A port that is being
 * made for one Service is awaited by all that were placed on it, and nobody takes it for a leftover.
 */
export class PortKeeper {
  readonly #mapper = new PortMapper();
  readonly #manager: PortManager;
  readonly #making = new Map<PortSlot, Promise<L2Port>>();
  readonly #markers = new Set<string>();
  readonly #newMarker: () => string;
  /** Who wants the floating IP of its port to stay with the project. */
  readonly #keepers = new Set<string>();

  #displaced: (owners: readonly string[]) => void = () => {};

  constructor(manager: PortManager, newMarker: () => string) {
    this.#manager = manager;
    this.#newMarker = newMarker;
  }

  /**
   * Takes in what was there before. What was lost meanwhile is made again for those who had it. Answers
   * with those who must be placed anew.
   */
  async restore(
    claims: readonly PriorClaim[],
    signal: AbortSignal,
  ): Promise<readonly PriorClaim[]> {
    const claimed = new Map(claims.map((claim) => [claim.portId, claim]));
    const ports = new Map<string, L2Port>();
    for (const port of await this.#manager.list(new Set(claimed.keys()), this.#markers, signal)) {
      ports.set(port.id, port);
    }
    for (const claim of claimed.values()) {
      const present = ports.get(claim.portId);
      const port = present ?? (await this.#recover(claim, signal));
      if (port === undefined) continue;
      ports.set(claim.portId, await this.#mend(port, claim.publicAddress, signal));
    }
    for (const { owner, keepsPublic } of claims) if (keepsPublic === true) this.#keepers.add(owner);
    const moved = claims.map((claim) => ({
      ...claim,
      portId: ports.get(claim.portId)?.id ?? claim.portId,
    }));
    return this.#mapper.restore([...ports.values()], moved);
  }

  /** Calls back with owners whose port turned out to be gone, and who must be looked at. */
  onDisplaced(displaced: (owners: readonly string[]) => void): void {
    this.#displaced = displaced;
  }

  /** Reserves before anything is awaited, then waits until the port is there. */
  async reserve(request: PlacementRequest, signal: AbortSignal): Promise<Reservation> {
    const placement = this.#mapper.place(request);
    if (placement.kind === 'refused' || placement.kind === 'leaving') return placement;
    const { slot } = placement;
    if (slot.port !== undefined) return { kind: 'port', port: slot.port };
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
    this.#mapper.release(owner);
  }

  /** The owner is served in these families and in no other any more. */
  keepFamilies(owner: string, families: readonly Family[]): void {
    const given = ([4, 6] as const).filter((family) => !families.includes(family));
    this.#mapper.release(owner, given);
  }

  /** Ports that nobody uses, and that are there to be deleted. */
  unused(): readonly L2Port[] {
    return this.#mapper.unused().flatMap(({ port }) => port ?? []);
  }

  /** The addresses of all ports, and of those that somebody uses. */
  addresses(): readonly Address[] {
    return this.#mapper.knownPorts().map(({ address }) => address);
  }

  addressesInUse(): readonly Address[] {
    return this.#mapper.usedPorts().map(({ address }) => address);
  }

  /**
   * Whether the owner wants the floating IP of its ports to outlive them. It is marked so at once, since
   * nobody may be left to say so when the port goes. One that wants it is enough for a shared port.
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

  /** Deletes a port that nobody uses. */
  async retire(port: L2Port, signal: AbortSignal): Promise<void> {
    const slot = this.#mapper.slotOfPort(port.id);
    if (slot === undefined || slot.users.size > 0) return;
    this.#mapper.retire(slot);
    try {
      await this.#manager.delete(port, signal);
    } catch (error) {
      // Still there, and still nobody's: it is tried again.
      this.#mapper.restore([port], []);
      throw error;
    }
  }

  /**
   * Compares with what the manager has. Ports that are gone are made again, with the addresses they
   * had where that can be; ports that nobody knew of become unused ones. Answers with the owners who
   * must be looked at. `advertised` are the addresses that Services tell their users.
   */
  async findDrift(
    advertised: ReadonlySet<Address>,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const before = this.#mapper.knownPorts();
    const claimed = new Set(before.map(({ id }) => id));
    const listed = await this.#manager.list(claimed, this.#markers, signal);
    const present = new Map(listed.map((port) => [port.id, port]));
    const strays = listed.filter(({ id }) => this.#mapper.slotOfPort(id) === undefined);
    this.#mapper.restore(strays, []);
    const concerned: string[] = [];
    for (const known of before) {
      concerned.push(...(await this.#settle(known, present.get(known.id), signal)));
    }
    const portIds = new Set(this.#mapper.knownPorts().map(({ id }) => id));
    await this.#manager.sweep(portIds, advertised, signal);
    return concerned;
  }

  /** Brings one port that we know together with what the manager has of it. */
  async #settle(
    known: L2Port,
    found: L2Port | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const slot = this.#mapper.slotOfPort(known.id);
    if (slot === undefined) return [];
    if (slot.users.size === 0) return found === undefined ? this.#mapper.lost(slot) : [];
    if (found === undefined) {
      const port = await this.#recover({ ...known, portId: known.id }, signal);
      if (port === undefined) return this.#mapper.lost(slot);
      return this.#replace(slot, port);
    }
    const mended = await this.#mend(found, known.publicAddress, signal);
    return mended.publicAddress === known.publicAddress ? [] : this.#replace(slot, mended);
  }

  /** Another port serves the slot from now on. Its users may have left while it was made. */
  #replace(slot: PortSlot, port: L2Port): readonly string[] {
    const displaced = this.#mapper.made(slot, port);
    return [...slot.users.keys(), ...displaced];
  }

  /** A port in place of one that is gone. Undefined where it can't be had: its users are placed anew. */
  async #recover(
    lost: Omit<LostPort, 'id'> & { readonly portId: string; readonly family: Family },
    signal: AbortSignal,
  ): Promise<L2Port | undefined> {
    const { family, portId: id, address, publicAddress } = lost;
    const marker = this.#newMarker();
    this.#markers.add(marker);
    const instead = { id, address, publicAddress };
    try {
      return await this.#manager.create({ family, requested: undefined, marker, instead }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    } finally {
      this.#markers.delete(marker);
    }
  }

  /** A floating IP that can't be had now is tried again with the next look for drift. */
  async #mend(port: L2Port, known: Address | undefined, signal: AbortSignal): Promise<L2Port> {
    try {
      return await this.#manager.mend(port, known, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      return port;
    }
  }

  #make(slot: PortSlot, signal: AbortSignal): Promise<L2Port> {
    const marker = this.#newMarker();
    this.#markers.add(marker);
    const { family, requested } = slot;
    const making = this.#manager
      .create({ family, requested, marker }, signal)
      .then(
        (port) => {
          this.#displaced(this.#mapper.made(slot, port));
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
