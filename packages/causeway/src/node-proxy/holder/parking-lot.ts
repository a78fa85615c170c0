export interface Bounds {
  readonly packets: number;
  readonly bytes: number;
}

export interface ParkingBounds {
  readonly perService: Bounds;
  readonly inAll: Bounds;
  /** Datagrams kept per exchange; of a stream always one. */
  readonly perFlow: number;
  /** Counted from the first packet of a flow. */
  readonly holdMs: number;
}

export type Parked = 'parked' | 'renewed' | 'full';

interface Flow {
  readonly since: number;
  packets: Buffer[];
}

interface Place {
  /** In order of arrival, so the first is the oldest. */
  readonly flows: Map<string, Flow>;
  packets: number;
  bytes: number;
}

/**
 * The waiting packets of each Service. Every dimension has a limit: a flood to one Service can only fill that
 * Service's share. Excess packets are counted and dropped; the client sends them again. There is always room
 * for one packet of each Service, because without a waiting packet the Service is not woken.
 */
export class ParkingLot {
  readonly #bounds: ParkingBounds;
  readonly #places = new Map<string, Place>();
  #packets = 0;
  #bytes = 0;

  constructor(bounds: ParkingBounds) {
    this.#bounds = bounds;
  }

  get packets(): number {
    return this.#packets;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Number of flows that wait for a Service. */
  waiting(service: string): number {
    return this.#places.get(service)?.flows.size ?? 0;
  }

  park(
    service: string,
    { flow: id, isStream }: { readonly flow: string; readonly isStream: boolean },
    packet: Buffer,
    now: number,
  ): Parked {
    const place: Place = this.#places.get(service) ?? { flows: new Map(), packets: 0, bytes: 0 };
    const flow = place.flows.get(id);
    if (flow !== undefined && isStream) {
      // A repeated first packet replaces the earlier one.
      for (const old of flow.packets) this.#count(place, -1, -old.length);
      flow.packets = [packet];
      this.#count(place, 1, packet.length);
      return 'renewed';
    }
    const isReserved = place.flows.size === 0;
    const isFull =
      (flow !== undefined && flow.packets.length >= this.#bounds.perFlow) ||
      exceeds(place, packet, this.#bounds.perService) ||
      (!isReserved &&
        exceeds({ packets: this.#packets, bytes: this.#bytes }, packet, this.#bounds.inAll));
    if (isFull) return 'full';
    if (flow === undefined) place.flows.set(id, { since: now, packets: [packet] });
    else flow.packets.push(packet);
    this.#count(place, 1, packet.length);
    this.#places.set(service, place);
    return 'parked';
  }

  /** Returns and removes the waiting packets of a Service, oldest first. */
  take(service: string): Buffer[] {
    const place = this.#places.get(service);
    if (place === undefined) return [];
    this.#places.delete(service);
    this.#packets -= place.packets;
    this.#bytes -= place.bytes;
    return [...place.flows.values()].flatMap(({ packets }) => packets);
  }

  /** Drops packets that have waited too long; returns their number. */
  expire(now: number): number {
    let dropped = 0;
    for (const [service, place] of this.#places) {
      for (const [id, { since, packets }] of place.flows) {
        if (now - since < this.#bounds.holdMs) break;
        place.flows.delete(id);
        for (const packet of packets) this.#count(place, -1, -packet.length);
        dropped += packets.length;
      }
      if (place.flows.size === 0) this.#places.delete(service);
    }
    return dropped;
  }

  #count(place: Place, packets: number, bytes: number): void {
    place.packets += packets;
    place.bytes += bytes;
    this.#packets += packets;
    this.#bytes += bytes;
  }
}

function exceeds(used: Bounds, packet: Buffer, bounds: Bounds): boolean {
  return used.packets + 1 > bounds.packets || used.bytes + packet.length > bounds.bytes;
}
