import type { Family } from '../../domain/address.ts';
import { CausewayError } from '../../domain/error.ts';
import type { PortManager } from './port-manager.ts';
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
  /** Ports whose floating IP stays with the project when they are deleted. */
  readonly #keptPublic = new Set<string>();

  constructor(manager: PortManager, newMarker: () => string) {
    this.#manager = manager;
    this.#newMarker = newMarker;
  }

  /** Takes in what was there before. Answers with those who must be placed anew. */
  async restore(
    claims: readonly PriorClaim[],
    signal: AbortSignal,
  ): Promise<readonly PriorClaim[]> {
    const claimed = new Set(claims.map(({ portId }) => portId));
    const ports = await this.#manager.list(claimed, this.#markers, signal);
    return this.#mapper.restore(ports, claims);
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
    this.#mapper.release(owner);
  }

  /** Ports that nobody uses, and that are there to be deleted. */
  unused(): readonly L2Port[] {
    return this.#mapper.unused().flatMap(({ port }) => port ?? []);
  }

  keepPublic(port: L2Port, isKept: boolean): void {
    if (isKept) this.#keptPublic.add(port.id);
    else this.#keptPublic.delete(port.id);
  }

  /** Deletes a port that nobody uses. */
  async retire(port: L2Port, signal: AbortSignal): Promise<void> {
    const slot = this.#mapper.slotOfPort(port.id);
    if (slot === undefined || slot.users.size > 0) return;
    this.#mapper.retire(slot);
    try {
      await this.#manager.delete(port, this.#keptPublic.has(port.id), signal);
      this.#keptPublic.delete(port.id);
    } catch (error) {
      // Still there, and still nobody's: it is tried again.
      this.#mapper.restore([port], []);
      throw error;
    }
  }

  /**
   * Compares with what the manager has. Ports that are gone are forgotten, and their owners must be
   * placed anew; ports that nobody knew of become unused ones.
   */
  async findDrift(signal: AbortSignal): Promise<readonly string[]> {
    const before = this.#mapper.knownPorts();
    const claimed = new Set(before.map(({ id }) => id));
    const listed = await this.#manager.list(claimed, this.#markers, signal);
    const present = new Set(listed.map(({ id }) => id));
    const strays = listed.filter(({ id }) => this.#mapper.slotOfPort(id) === undefined);
    this.#mapper.restore(strays, []);
    const orphaned: string[] = [];
    for (const { id } of before) {
      const slot = present.has(id) ? undefined : this.#mapper.slotOfPort(id);
      if (slot !== undefined) orphaned.push(...this.#mapper.lost(slot));
    }
    await this.#manager.sweep(new Set(this.#mapper.knownPorts().map(({ id }) => id)), signal);
    return orphaned;
  }

  #make(slot: PortSlot, signal: AbortSignal): Promise<L2Port> {
    const marker = this.#newMarker();
    this.#markers.add(marker);
    const { family, requested } = slot;
    const making = this.#manager
      .create({ family, requested, marker }, signal)
      .then(
        (port) => {
          this.#mapper.made(slot, port);
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
