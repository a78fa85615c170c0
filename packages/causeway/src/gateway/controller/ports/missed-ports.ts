import type { Family } from '@causeway/base/address/address';
import type { LostPort } from './port-manager.ts';
import type { PortSlot } from './port-slot.ts';

/** Ports that were lost and not yet recreated, by their Services. */
export class MissedPorts {
  readonly #missed = new Map<string, LostPort>();

  add(owners: readonly string[], family: Family, { id, address, publicAddress }: LostPort): void {
    for (const owner of owners) {
      this.#missed.set(`${owner} ${family}`, { id, address, publicAddress });
    }
  }

  forget(owner: string): void {
    for (const family of [4, 6] as const) this.#missed.delete(`${owner} ${family}`);
  }

  /** A port that one of the users lost. The new port gets its addresses if they are available now. */
  of({ users, family, requested }: PortSlot): LostPort | undefined {
    if (requested !== undefined) return undefined;
    return [...users.keys()]
      .map((owner) => this.#missed.get(`${owner} ${family}`))
      .find((lost) => lost !== undefined);
  }
}
