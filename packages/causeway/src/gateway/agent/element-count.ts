import type { Operation } from '@causeway/nftables/model/transaction';

/**
 * Number of elements in the nftables table, counted from the commits. Listing the elements would be too
 * expensive.
 */
export class ElementCount {
  readonly #bySet = new Map<string, number>();

  get total(): number {
    let sum = 0;
    for (const count of this.#bySet.values()) sum += count;
    return sum;
  }

  committed(operations: readonly Operation[]): void {
    for (const operation of operations) this.#apply(operation);
  }

  #apply(operation: Operation): void {
    switch (operation.op) {
      case 'add-elements':
        this.#change(operation.set.name, operation.elements.length);
        return;
      case 'remove-elements':
        this.#change(operation.set.name, -operation.elements.length);
        return;
      case 'remove-set':
      case 'flush-set':
        this.#bySet.delete(operation.set);
        return;
      case 'remove-table':
        this.#bySet.clear();
        return;
      case 'add-table':
      case 'add-chain':
      case 'remove-chain':
      case 'set-rules':
      case 'add-set':
    }
  }

  #change(set: string, by: number): void {
    this.#bySet.set(set, (this.#bySet.get(set) ?? 0) + by);
  }
}
