import type { ServiceKey, VirtualService } from '@causeway/nftables/compile/virtual-service';
import type { OwnedAddresses, OwnershipChange } from './owned-addresses.ts';
import type { ServedService } from './served-service.ts';

/** The content of one transaction. The store may change while it is being written. */
export class Commit {
  readonly #services = new Map<string, Omit<ServedService, 'targets'>>();
  readonly #rivals = new Set<string>();
  readonly #set = new Map<ServiceKey, VirtualService>();
  readonly #remove = new Set<ServiceKey>();

  add(service: Omit<ServedService, 'targets'>): void {
    this.#services.set(service.service, service);
  }

  addChange(change: OwnershipChange): void {
    for (const [key, virtual] of change.set) {
      this.#set.set(key, virtual);
      this.#remove.delete(key);
    }
    for (const key of change.remove) {
      this.#set.delete(key);
      this.#remove.add(key);
    }
  }

  addRivals(rivals: Iterable<string>): void {
    for (const rival of rivals) this.#rivals.add(rival);
  }

  has(service: string): boolean {
    return this.#services.has(service);
  }

  /** Services that may have won or lost an address in the transaction. */
  touched(): Set<string> {
    return this.#rivals.union(new Set(this.#services.keys()));
  }

  /** The changed elements of the rules. */
  elements(): { readonly set: VirtualService[]; readonly remove: ServiceKey[] } {
    return { set: [...this.#set.values()], remove: [...this.#remove] };
  }

  served(owned: OwnedAddresses): ServedService[] {
    return [...this.#services.values()].map((part) => ({
      ...part,
      targets: owned.owned(part.service),
    }));
  }
}
