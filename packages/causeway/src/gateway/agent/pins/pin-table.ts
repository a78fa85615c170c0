import type { Clock } from '@causeway/base/time/clock';
import { pinKey, type Pin, type PinKey } from '@causeway/nftables/pins/pin';
import { frontendKey, type FrontendId, type FrontendKey } from '../../protocol/frontend.ts';
import type { PinCursor, PinDelta } from '../../protocol/pins.ts';

export interface PinLimits {
  readonly perFrontend: number;
  readonly total: number;
  /** How long a pin stays that is not renewed. */
  readonly timeoutMs: number;
}

interface Held {
  readonly pin: Pin;
  /** The connection runs on this gateway, which renews the pin. */
  isOwn: boolean;
  readonly renewedAt: number;
}

/** The changes that wait for the kernel. */
export interface PendingPins {
  readonly set: readonly Pin[];
  readonly remove: readonly Pin[];
}

/**
 * The pins of a gateway: those of its own connections, and those that the controller has handed over. Every
 * change has a version, so that another gateway gets the changes only.
 */
export class PinTable {
  readonly #epoch: string;
  readonly #clock: Clock;
  readonly #limits: PinLimits;
  /** The oldest first. */
  readonly #pins = new Map<PinKey, Held>();
  readonly #byFrontend = new Map<FrontendKey, Set<PinKey>>();
  readonly #full = new Map<FrontendKey, FrontendId>();
  /** The pins of consecutive versions. */
  #log: { readonly key: PinKey; readonly pin: Pin }[] = [];
  #version = 0;
  #pending = new Map<PinKey, { readonly pin: Pin; readonly isRemoved: boolean }>();

  constructor(epoch: string, limits: PinLimits, clock: Clock) {
    this.#epoch = epoch;
    this.#limits = limits;
    this.#clock = clock;
  }

  get size(): number {
    return this.#pins.size;
  }

  /** The frontends that have lost pins because there were too many. */
  get full(): Iterable<FrontendId> {
    return this.#full.values();
  }

  /** Adds the pin of a connection that runs on this gateway. */
  own(pin: Pin): void {
    const held = this.#pins.get(pinKey(pin));
    if (held === undefined || !samePin(held.pin, pin)) this.#put(pin, true);
    else held.isOwn = true;
  }

  /**
   * Adds the pin of a connection whose backend has another frontend too. Such pins are many, so they fill half
   * of the table at most, and remove no other pin.
   */
  ownIfRoom(pin: Pin): void {
    const key = pinKey(pin);
    const frontend = frontendOf(pin);
    const { perFrontend, total } = this.#limits;
    const count = this.#byFrontend.get(frontend)?.size ?? 0;
    if (this.#pins.has(key) || (count < perFrontend / 2 && this.size < total / 2)) this.own(pin);
    else this.#full.set(frontend, frontendIdOf(pin));
  }

  /** Adds or renews a pin that another gateway has handed over. A connection of this gateway is newer. */
  take(pin: Pin): void {
    if (this.#pins.get(pinKey(pin))?.isOwn !== true) this.#put(pin, false);
  }

  /** The kernel has these pins already. */
  restore(pins: Iterable<Pin>): void {
    for (const pin of pins) this.take(pin);
    this.#pending.clear();
  }

  /** Removes the pin of an ended connection of this gateway, or of another gateway. */
  remove(pin: Pin, isOwn: boolean): void {
    const held = this.#pins.get(pinKey(pin));
    if (held === undefined || (!isOwn && held.isOwn)) return;
    this.#delete(held.pin);
  }

  /** The connections of this gateway have moved to another one, which reports their end. */
  disown(): void {
    for (const held of this.#pins.values()) held.isOwn = false;
  }

  /** Renews the pins of running connections, and removes those that no gateway has renewed for long. */
  renew(isRunning: (pin: Pin) => boolean): void {
    const now = this.#clock.monotonic();
    const { timeoutMs } = this.#limits;
    for (const held of [...this.#pins.values()]) {
      const age = now - held.renewedAt;
      if (age > timeoutMs / 4 && isRunning(held.pin)) this.#put(held.pin, true);
      else if (age > timeoutMs) this.#delete(held.pin);
    }
  }

  /** The changes since the cursor, or all pins if the cursor is unknown here. */
  since(cursor: PinCursor | undefined, isOnlyOwn: boolean): PinDelta {
    const here = { epoch: this.#epoch, version: this.#version };
    const first = this.#version - this.#log.length;
    const isKnown = cursor?.epoch === this.#epoch && cursor.version >= first;
    const keys = isKnown
      ? new Map(this.#log.slice(cursor.version - first).map(({ key, pin }) => [key, pin]))
      : new Map([...this.#pins].map(([key, { pin }]) => [key, pin]));
    const set: Pin[] = [];
    const removed: Pin[] = [];
    for (const [key, pin] of keys) {
      const held = this.#pins.get(key);
      if (held === undefined) removed.push(pin);
      else if (held.isOwn || !isOnlyOwn) set.push(held.pin);
    }
    return { cursor: here, set, removed };
  }

  /** Takes the changes that the kernel does not have yet. */
  takePending(): PendingPins {
    const pending = [...this.#pending.values()];
    this.#pending = new Map();
    return {
      set: pending.filter(({ isRemoved }) => !isRemoved).map(({ pin }) => pin),
      remove: pending.filter(({ isRemoved }) => isRemoved).map(({ pin }) => pin),
    };
  }

  #put(pin: Pin, isOwn: boolean): void {
    const key = pinKey(pin);
    const frontend = frontendOf(pin);
    const known = this.#byFrontend.get(frontend) ?? new Set();
    this.#byFrontend.set(frontend, known);
    // Re-inserted at the end: a renewed pin is the newest.
    this.#pins.delete(key);
    known.delete(key);
    known.add(key);
    this.#pins.set(key, { pin, isOwn, renewedAt: this.#clock.monotonic() });
    this.#record(key, pin, false);
    if (known.size > this.#limits.perFrontend) this.#evict(known);
    if (this.#pins.size > this.#limits.total) this.#evict(this.#pins.keys());
  }

  /** The oldest pin makes room. The frontend's connections may be lost in a failover. */
  #evict(keys: Iterable<PinKey>): void {
    for (const key of keys) {
      const held = this.#pins.get(key);
      if (held === undefined) continue;
      this.#full.set(frontendOf(held.pin), frontendIdOf(held.pin));
      this.#delete(held.pin);
      return;
    }
  }

  #delete(pin: Pin): void {
    const key = pinKey(pin);
    const frontend = frontendOf(pin);
    const own = this.#byFrontend.get(frontend);
    this.#pins.delete(key);
    own?.delete(key);
    if (own?.size === 0) {
      this.#byFrontend.delete(frontend);
      this.#full.delete(frontend);
    }
    this.#record(key, pin, true);
  }

  #record(key: PinKey, pin: Pin, isRemoved: boolean): void {
    this.#version += 1;
    this.#log.push({ key, pin });
    this.#pending.set(key, { pin, isRemoved });
    if (this.#log.length > 4 * this.#limits.total) {
      this.#log = this.#log.slice(-2 * this.#limits.total);
    }
  }
}

function samePin(left: Pin, right: Pin): boolean {
  return left.backend === right.backend && left.backendPort === right.backendPort;
}

function frontendIdOf({ address, port }: Pin): FrontendId {
  return { address, protocol: 'TCP', port };
}

function frontendOf(pin: Pin): FrontendKey {
  return frontendKey(frontendIdOf(pin));
}
