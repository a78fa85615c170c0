import { sleep, type Clock } from '@causeway/base/time/clock';
import type { Metrics } from '@causeway/base/observability/metrics';
import { nextTurn } from '@causeway/base/time/next-turn';
import type { ServedService } from '../served-service.ts';
import { heldPackets, waitingBytes, waitingPackets } from './metric-definitions.ts';
import { fillChecksums, summarize, targetOf } from './packet.ts';
import type { PacketTap, PacketTapListener } from './packet-tap.ts';
import { ParkingLot, type ParkingBounds } from './parking-lot.ts';

export interface HolderOptions {
  readonly bounds: ParkingBounds;
  /** A client waits for this Service; `isFirst` if no other did before. Called for each packet. */
  readonly needPods: (service: string, port: string, isFirst: boolean) => void;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** State of a target in the kernel, as of the last transaction. */
interface Known {
  readonly service: string;
  readonly port: string;
  /** Undefined while the target is parked; else the time since which it is served again. */
  readonly servedSince: number | undefined;
}

/**
 * Counted when a packet arrives (the first five outcomes). Parked and late packets are counted again when
 * they leave.
 */
type Outcome =
  | 'parked'
  | 'renewed'
  | 'late'
  | 'full'
  | 'unmatched'
  | 'expired'
  | 'replayed'
  | 'refused'
  | 'lost';

const sweepMs = 1_000;
/** Packets that were logged right before the switch arrive after it; they are expected for this time. */
const lateMs = 30_000;
/** Packets replayed before yielding to the event loop. */
const replayPiece = 64;
/** Limit of packets that arrive before the first transaction identifies their Service. */
const mostEarly = 4_096;

/**
 * Keeps the first packets of connections to idle Services, and replays them once the kernel serves the
 * Service. The packets take the normal path with the client's own address, as if they had just arrived. The
 * holder never answers for a Service, so no connection is handed over.
 */
export class Holder implements PacketTapListener {
  readonly #options: HolderOptions;
  readonly #lot: ParkingLot;
  readonly #known = new Map<string, Known>();
  readonly #targets = new Map<string, readonly string[]>();
  readonly #replaying: Buffer[][] = [];
  readonly #packets;
  readonly #waitingPackets;
  readonly #waitingBytes;
  /** Packets from inside, where pods are identified by their interface. */
  readonly #inside = new WeakSet<Buffer>();
  #early: Buffer[] | undefined = [];
  #tap: PacketTap | undefined;
  #isReplaying = false;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#lot = new ParkingLot(options.bounds);
    this.#packets = options.metrics.counter(heldPackets);
    this.#waitingPackets = options.metrics.gauge(waitingPackets);
    this.#waitingBytes = options.metrics.gauge(waitingBytes);
  }

  /** Number of connections that wait for a Service. */
  waiting(service: string): number {
    return this.#lot.waiting(service);
  }

  /** Sets the tap for replayed packets. The tap's events must be passed to this object. */
  attach(tap: PacketTap | undefined): void {
    this.#tap = tap;
  }

  onPacket(packet: Buffer, isInside = false): void {
    if (isInside) this.#inside.add(packet);
    if (this.#early !== undefined) {
      if (this.#early.length < mostEarly) this.#early.push(packet);
      else this.#count('full');
      return;
    }
    const summary = summarize(packet);
    const known = summary === undefined ? undefined : this.#known.get(summary.target);
    if (summary === undefined || known === undefined) {
      this.#count('unmatched');
    } else if (known.servedSince !== undefined) {
      this.#count('late');
      this.#putBack([packet]);
    } else {
      const { service, port } = known;
      const isFirst = this.#lot.waiting(service) === 0;
      this.#count(this.#lot.park(service, summary, packet, this.#now()));
      this.#options.needPods(service, port, isFirst);
    }
  }

  onOverrun(): void {
    this.#count('lost');
  }

  /** Call this after each transaction with the state of the kernel. */
  onCommit(served: readonly ServedService[]): void {
    for (const one of served) this.#learn(one);
    const early = this.#early;
    if (early === undefined) return;
    this.#early = undefined;
    for (const packet of early) this.onPacket(packet);
  }

  #learn({ service, targets }: ServedService): void {
    const before = this.#targets.get(service) ?? [];
    const now = this.#now();
    const held = new Map<string, Known>();
    const after = new Map<string, Known>();
    for (const { virtual, port } of targets) {
      const target = targetOf(virtual);
      if (virtual.dispatch.kind === 'hold') {
        held.set(target, { service, port, servedSince: undefined });
      } else if (before.includes(target)) {
        after.set(target, { service, port, servedSince: now });
      }
    }
    for (const target of before) this.#known.delete(target);
    for (const [target, known] of [...after, ...held]) this.#known.set(target, known);
    if (held.size > 0) this.#targets.set(service, [...held.keys()]);
    else this.#targets.delete(service);
    if (before.every((target) => held.has(target))) return;
    // The kernel logs packets to a port that is still held to this holder again.
    const waiting = this.#lot.take(service);
    if (targets.length > 0) this.#putBack(waiting);
    else this.#count('refused', waiting.length);
  }

  /** Drops packets that waited for too long, and updates the metrics, until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await sleep(clock, sweepMs, signal);
      this.#count('expired', this.#lot.expire(this.#now()));
      this.#forgetServed();
      this.#waitingPackets.set({}, this.#lot.packets);
      this.#waitingBytes.set({}, this.#lot.bytes);
    }
  }

  #forgetServed(): void {
    const now = this.#now();
    for (const [target, { servedSince }] of this.#known) {
      if (servedSince !== undefined && now - servedSince > lateMs) this.#known.delete(target);
    }
  }

  #putBack(packets: Buffer[]): void {
    if (packets.length === 0) return;
    this.#replaying.push(packets);
    if (!this.#isReplaying) void this.#replayAll();
  }

  /** In pieces, so that ten thousand clients do not block the event loop. */
  async #replayAll(): Promise<void> {
    this.#isReplaying = true;
    for (
      let batch = this.#replaying.shift();
      batch !== undefined;
      batch = this.#replaying.shift()
    ) {
      for (let at = 0; at < batch.length; at += replayPiece) {
        if (at > 0) await nextTurn();
        for (const packet of batch.slice(at, at + replayPiece)) this.#putBackOne(packet);
      }
    }
    this.#isReplaying = false;
  }

  #putBackOne(packet: Buffer): void {
    fillChecksums(packet);
    const isTaken = this.#tap?.inject(packet, this.#inside.has(packet)) === true;
    this.#count(isTaken ? 'replayed' : 'lost');
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #count(outcome: Outcome, amount = 1): void {
    if (amount > 0) this.#packets.add({ outcome }, amount);
  }
}
