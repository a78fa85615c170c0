import { familyOf, type Family } from '@causeway/base/address/address';
import type { Driver } from '../drivers/driver.ts';
import { families } from '../model/operands.ts';
import { setNames } from '../model/names.ts';
import type { Element, SetDefinition } from '../model/ruleset.ts';
import type { Operation } from '../model/transaction.ts';
import {
  pinElement,
  pinKey,
  pinOf,
  reversePinElement,
  reversePinKey,
  reversePinOf,
  type Pin,
  type PinKey,
  type ReversePinKey,
} from './pin.ts';
import { pinSet, reversePinSet } from './pin-rules.ts';

/** A change of the pins in the kernel. */
export interface PinChange {
  /** Added, or renewed with the full timeout. */
  readonly set: readonly Pin[];
  readonly remove: readonly Pin[];
}

type ElementsOp = 'add-elements' | 'remove-elements';

/**
 * The pins in the kernel's maps, one for each direction. The kernel keeps them for a time without this
 * process.
 */
export class KernelPins {
  readonly #driver: Driver;
  readonly #timeoutSeconds: number;
  readonly #pins = new Map<PinKey, Pin>();
  /**
   * The pins in the maps for the way back. Two pins may have the same backend and client, if the client uses
   * its port for another virtual address; the newer one is here.
   */
  readonly #reverse = new Map<ReversePinKey, Pin>();
  /** The kernel may have other pins, because a write failed. */
  #isStale = false;

  constructor(driver: Driver, timeoutSeconds: number) {
    this.#driver = driver;
    this.#timeoutSeconds = timeoutSeconds;
  }

  /** Reads the pins that an earlier process left. The maps must exist. */
  async load(signal?: AbortSignal): Promise<readonly Pin[]> {
    this.#pins.clear();
    this.#reverse.clear();
    for (const family of families) {
      for (const element of await this.#driver.elements(setNames.pins(family), signal)) {
        const pin = pinOf(element);
        if (pin !== undefined) this.#pins.set(pinKey(pin), pin);
      }
      for (const element of await this.#driver.elements(setNames.reversePins(family), signal)) {
        const pin = reversePinOf(element);
        if (pin !== undefined) this.#reverse.set(reversePinKey(pin), pin);
      }
    }
    return [...this.#pins.values()];
  }

  /** Atomic. If the kernel has lost elements, all pins are written again. */
  async apply({ set, remove }: PinChange, signal?: AbortSignal): Promise<void> {
    const before = new Set([...remove, ...set].flatMap((pin) => this.#pins.get(pinKey(pin)) ?? []));
    const reverse = this.#replaceReverse([...before], set);
    const operations = [
      ...this.#operations('remove-elements', before),
      ...this.#reverseOperations('remove-elements', reverse.removed),
      ...this.#operations('add-elements', set),
      ...this.#reverseOperations('add-elements', reverse.added),
    ];
    for (const pin of remove) this.#pins.delete(pinKey(pin));
    for (const pin of set) this.#pins.set(pinKey(pin), pin);
    if (this.#isStale) return this.rewrite(signal);
    try {
      await this.#driver.apply({ table: this.#driver.table, operations }, signal);
    } catch {
      await this.rewrite(signal);
    }
  }

  /** Writes all pins into maps with any content. */
  async rewrite(signal?: AbortSignal): Promise<void> {
    const maps = families.flatMap((family) => [
      setNames.pins(family),
      setNames.reversePins(family),
    ]);
    const flushes = maps.map((set): Operation => ({ op: 'flush-set', set, isMap: true }));
    const operations = [
      ...flushes,
      ...this.#operations('add-elements', this.#pins.values()),
      ...this.#reverseOperations('add-elements', this.#reverse.values()),
    ];
    this.#isStale = true;
    await this.#driver.apply({ table: this.#driver.table, operations }, signal);
    this.#isStale = false;
  }

  /** A pin that another one has replaced leaves its element to the other one. */
  #replaceReverse(
    before: readonly Pin[],
    set: readonly Pin[],
  ): { readonly removed: Iterable<Pin>; readonly added: Iterable<Pin> } {
    const removed = new Map<ReversePinKey, Pin>();
    const added = new Map<ReversePinKey, Pin>();
    for (const pin of before) {
      const key = reversePinKey(pin);
      const held = this.#reverse.get(key);
      if (held === undefined || pinKey(held) !== pinKey(pin)) continue;
      removed.set(key, held);
      this.#reverse.delete(key);
    }
    for (const pin of set) {
      const key = reversePinKey(pin);
      const held = this.#reverse.get(key);
      if (held !== undefined && !added.has(key)) removed.set(key, held);
      added.set(key, pin);
      this.#reverse.set(key, pin);
    }
    return { removed: removed.values(), added: added.values() };
  }

  #operations(op: ElementsOp, pins: Iterable<Pin>): Operation[] {
    return elementOperations(op, pinSet, pins, (pin) => pinElement(pin, this.#timeoutSeconds));
  }

  #reverseOperations(op: ElementsOp, pins: Iterable<Pin>): Operation[] {
    return elementOperations(op, reversePinSet, pins, (pin) =>
      reversePinElement(pin, this.#timeoutSeconds),
    );
  }
}

function elementOperations(
  op: ElementsOp,
  setOf: (family: Family) => SetDefinition,
  pins: Iterable<Pin>,
  elementOf: (pin: Pin) => Element,
): Operation[] {
  const all = [...pins];
  return families.flatMap((family) => {
    const elements = all.filter(({ address }) => familyOf(address) === family).map(elementOf);
    return elements.length === 0 ? [] : [{ op, set: setOf(family), elements }];
  });
}
