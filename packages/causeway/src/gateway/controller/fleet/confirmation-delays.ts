interface Delay {
  readonly confirmed: number;
  readonly since: number;
}

/**
 * Since when each gateway has not confirmed the newest state. A confirmation of any newer generation starts the
 * time again: the gateway works, and other changes came after its last update.
 */
export class ConfirmationDelays {
  readonly #delays = new Map<string, Delay>();

  /** Returns how long the gateway has confirmed nothing new; undefined if it has the newest state. */
  note(gateway: string, confirmed: number, wanted: number, now: number): number | undefined {
    if (confirmed >= wanted) {
      this.#delays.delete(gateway);
      return undefined;
    }
    const before = this.#delays.get(gateway);
    if (before?.confirmed === confirmed) return now - before.since;
    this.#delays.set(gateway, { confirmed, since: now });
    return 0;
  }
}
