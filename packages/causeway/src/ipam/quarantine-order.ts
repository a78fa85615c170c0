import type { Address } from '@causeway/base/address/address';

interface Resting {
  readonly until: number;
  readonly address: Address;
}

/**
 * Addresses that rest, by the time at which their rest ends. Entries are never removed when an
 * address changes; whoever takes one out asks whether it still holds.
 */
export class QuarantineOrder {
  /** A binary heap: the earliest is first. */
  readonly #heap: Resting[] = [];
  /** Rest over when last looked at. Oldest first. */
  readonly #expired = new Set<Address>();

  add(address: Address, until: number): void {
    this.#heap.push({ address, until });
    this.#siftUp(this.#heap.length - 1);
  }

  /** Addresses whose rest is over, oldest first. `restOf` tells until when an address rests now. */
  *expired(now: number, restOf: (address: Address) => number | undefined): Generator<Address> {
    for (let head = this.#heap[0]; head !== undefined && head.until <= now; head = this.#heap[0]) {
      this.#pop();
      this.#expired.add(head.address);
    }
    for (const address of this.#expired) {
      const until = restOf(address);
      if (until !== undefined && until <= now) yield address;
      else {
        this.#expired.delete(address);
        // Resting anew, or the clock was set back: its new time is, or goes back, in the heap.
        if (until !== undefined) this.add(address, until);
      }
    }
  }

  /** When the next rest ends, if any does. */
  next(restOf: (address: Address) => number | undefined): number | undefined {
    for (let head = this.#heap[0]; head !== undefined; head = this.#heap[0]) {
      if (restOf(head.address) === head.until) return head.until;
      this.#pop();
    }
    return undefined;
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#siftDown();
  }

  #siftUp(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfLater(parent, at)) return;
      at = parent;
    }
  }

  #siftDown(): void {
    for (let at = 0; ; ) {
      const left = at * 2 + 1;
      const right = left + 1;
      const earlier = this.#untilAt(right) < this.#untilAt(left) ? right : left;
      if (earlier >= this.#heap.length || !this.#swapIfLater(at, earlier)) return;
      at = earlier;
    }
  }

  #untilAt(index: number): number {
    return this.#heap[index]?.until ?? Number.POSITIVE_INFINITY;
  }

  /** Puts the earlier of the two into the upper place. Answers whether they changed places. */
  #swapIfLater(upper: number, lower: number): boolean {
    const above = this.#heap[upper];
    const below = this.#heap[lower];
    if (above === undefined || below === undefined || above.until <= below.until) return false;
    this.#heap[upper] = below;
    this.#heap[lower] = above;
    return true;
  }
}
