import type { Address } from '@causeway/base/address/address';
import type { LostPort } from './port-manager.ts';
import type { L2Port } from './port-slot.ts';

/** The reason and the message of an Event about a port, for the Services that use it. */
export interface PortNote {
  readonly reason: 'AddressLost' | 'AddressChanged';
  readonly message: string;
}

/** Notes about ports, by the UID of the Service. Each note is returned once. */
export class PortNotes {
  readonly #notes = new Map<string, PortNote>();

  take(owner: string): PortNote | undefined {
    const note = this.#notes.get(owner);
    this.#notes.delete(owner);
    return note;
  }

  forget(owner: string): void {
    this.#notes.delete(owner);
  }

  /** Adds a note if the port's public address is not the known one. */
  changed(owners: readonly string[], known: Address | undefined, port: L2Port): void {
    if (known === undefined || known === port.publicAddress) return;
    const message = `${known} was lost and can't be restored. Clients reach the Service at ${port.publicAddress} now.`;
    for (const owner of owners) this.#notes.set(owner, { reason: 'AddressChanged', message });
  }

  lost(owners: readonly string[], { id, address, publicAddress }: LostPort, why: string): void {
    const message = `The port of ${publicAddress ?? address ?? id} was lost and can't be recreated: ${why}`;
    for (const owner of owners) this.#notes.set(owner, { reason: 'AddressLost', message });
  }
}
