import type { Address } from '@causeway/base/address/address';

interface Resting {
  readonly until: number;
  readonly address: Address;
}

/**
 * Addresses in quarantine, ordered by its end. Entries are not removed when an address changes; the reader
 * checks whether an entry is still valid.
 */
export class QuarantineOrder {
  /** A binary heap: the earliest is first. */
  readonly #heap: Resting[] = [];
  /** Addresses with an expired quarantine at the last check. Oldest first. */
  readonly #expired = new Set<Address>();

  add(address: Address, until: number): void {
    this.#heap.push({ address, until });
    this.#siftUp(this.#heap.length - 1);
  }

  /**
   * Addresses with an expired quarantine, oldest first. `restOf` returns the current end of an address's
   * quarantine.
   */
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
        // In quarantine again, or the clock was set back: the address is, or returns, in the heap with its
        // new time.
        if (until !== undefined) this.add(address, until);
      }
    }
  }

  /** End of the next quarantine, if there is one. */
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

  /** Puts the earlier of the two into the upper place. Returns whether they changed places. */
  #swapIfLater(upper: number, lower: number): boolean {
    const above = this.#heap[upper];
    const below = this.#heap[lower];
    if (above === undefined || below === undefined || above.until <= below.until) return false;
    this.#heap[upper] = below;
    this.#heap[lower] = above;
    return true;
  }
}
