interface Entry<T> {
  readonly time: number;
  readonly order: number;
  readonly value: T;
}

/** A binary heap of values by time. Values with equal times leave in their order of insertion. */
export class DelayHeap<T> {
  readonly #entries: Entry<T>[] = [];
  #order = 0;

  get size(): number {
    return this.#entries.length;
  }

  push(time: number, value: T): void {
    this.#entries.push({ time, order: this.#order, value });
    this.#order += 1;
    this.#rise(this.#entries.length - 1);
  }

  nextTime(): number | undefined {
    return this.#entries[0]?.time;
  }

  /** Removes and returns the earliest value if it is due. */
  popDue(now: number): { value: T; time: number } | undefined {
    const first = this.#entries[0];
    if (first === undefined || first.time > now) return undefined;
    const last = this.#entries.pop();
    if (last !== undefined && this.#entries.length > 0) {
      this.#entries[0] = last;
      this.#sink(0);
    }
    return first;
  }

  #rise(start: number): void {
    let index = start;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#isBefore(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(start: number): void {
    let index = start;
    for (;;) {
      const left = index * 2 + 1;
      let earliest = index;
      if (this.#isBefore(left, earliest)) earliest = left;
      if (this.#isBefore(left + 1, earliest)) earliest = left + 1;
      if (earliest === index) return;
      this.#swap(index, earliest);
      index = earliest;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const a = this.#entries[left];
    const b = this.#entries[right];
    if (a === undefined || b === undefined) return false;
    return a.time < b.time || (a.time === b.time && a.order < b.order);
  }

  #swap(left: number, right: number): void {
    const a = this.#entries[left];
    const b = this.#entries[right];
    if (a === undefined || b === undefined) return;
    this.#entries[left] = b;
    this.#entries[right] = a;
  }
}
