import type { Driver } from '../drivers/driver.ts';
import { families } from '../model/operands.ts';
import { setNames } from '../model/names.ts';
import type { Operation } from '../model/transaction.ts';
import { pinElement, pinKey, pinMap, pinOf, type Pin, type PinKey } from './pin.ts';
import { pinSet } from './pin-rules.ts';

/** A change of the pins in the kernel. */
export interface PinChange {
  /** Added, or renewed with the full timeout. */
  readonly set: readonly Pin[];
  readonly remove: readonly Pin[];
}

/** The pins in the kernel's maps. The kernel keeps them for a time without this process. */
export class KernelPins {
  readonly #driver: Driver;
  readonly #timeoutSeconds: number;
  readonly #pins = new Map<PinKey, Pin>();
  /** The kernel may have other pins, because a write failed. */
  #isStale = false;

  constructor(driver: Driver, timeoutSeconds: number) {
    this.#driver = driver;
    this.#timeoutSeconds = timeoutSeconds;
  }

  /** Reads the pins that an earlier process left. The maps must exist. */
  async load(signal?: AbortSignal): Promise<readonly Pin[]> {
    this.#pins.clear();
    for (const family of families) {
      for (const element of await this.#driver.elements(setNames.pins(family), signal)) {
        const pin = pinOf(element);
        if (pin !== undefined) this.#pins.set(pinKey(pin), pin);
      }
    }
    return [...this.#pins.values()];
  }

  /** Atomic. If the kernel has lost elements, all pins are written again. */
  async apply({ set, remove }: PinChange, signal?: AbortSignal): Promise<void> {
    const present = [...remove, ...set].flatMap((pin) => this.#pins.get(pinKey(pin)) ?? []);
    const operations = [
      ...this.#operations('remove-elements', new Set(present)),
      ...this.#operations('add-elements', set),
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
    const flushes = families.map(
      (family): Operation => ({ op: 'flush-set', set: setNames.pins(family), isMap: true }),
    );
    const operations = [...flushes, ...this.#operations('add-elements', this.#pins.values())];
    this.#isStale = true;
    await this.#driver.apply({ table: this.#driver.table, operations }, signal);
    this.#isStale = false;
  }

  #operations(op: 'add-elements' | 'remove-elements', pins: Iterable<Pin>): Operation[] {
    const all = [...pins];
    return families.flatMap((family) => {
      const set = pinSet(family);
      const own = all.filter((pin) => pinMap(pin) === set.name);
      const elements = own.map((pin) => pinElement(pin, this.#timeoutSeconds));
      return elements.length === 0 ? [] : [{ op, set, elements }];
    });
  }
}
