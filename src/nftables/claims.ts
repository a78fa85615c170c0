import type { Fragment, PlacedElement } from './fragment.ts';
import { setNames } from './names.ts';
import { families } from './operands.ts';
import { elementId, valueId, type Chain, type Element, type SetDefinition } from './ruleset.ts';
import type { Operation } from './transaction.ts';

/** Sets in which several fragments may hold the same element. It goes when the last one lets go. */
const sharedSets = new Set(families.flatMap((f) => [setNames.addresses(f), setNames.hairpin(f)]));
/** Maps in which a key that is claimed for two values has none: nobody could tell which is right. */
const unambiguousMaps = new Set(
  families.flatMap((f) => [setNames.reverse(f), setNames.reverseNodePorts(f)]),
);

interface Claim<T> {
  count: number;
  readonly item: T;
}
type ClaimTable<T> = Map<string, Claim<T>>;

/**
 * Who holds what of the things that fragments share. Everything else belongs to one fragment alone
 * and is not kept here: it follows from the fragment's source.
 */
export class Claims {
  readonly chains: ClaimTable<Chain> = new Map();
  readonly sets: ClaimTable<SetDefinition> = new Map();
  /** By set and element. */
  readonly shared = new Map<string, ClaimTable<Element>>();
  /** By map and key, then by value. */
  readonly contested = new Map<string, Map<string, ClaimTable<Element>>>();

  /** Keys of the map that are claimed for more than one value. */
  *ambiguous(map: string): Iterable<readonly Element[]> {
    for (const values of this.contested.get(map)?.values() ?? []) {
      if (values.size > 1) yield [...values.values()].map((claim) => claim.item);
    }
  }
}

interface Delta<T> {
  change: number;
  item: T;
}
type Deltas<T> = Map<string, Delta<T>>;

interface Exchange {
  removed?: Element;
  added?: Element;
}

/** The difference that replacing some fragments by others makes. Changes nothing until applied. */
export class ClaimChange {
  readonly #claims: Claims;
  readonly #chains: Deltas<Chain> = new Map();
  readonly #sets: Deltas<SetDefinition> = new Map();
  readonly #own = new Map<string, Map<string, Exchange>>();
  readonly #shared = new Map<string, Deltas<Element>>();
  readonly #contested = new Map<string, Map<string, Deltas<Element>>>();

  constructor(claims: Claims) {
    this.#claims = claims;
  }

  remove(fragment: Fragment): void {
    this.#count(fragment, -1);
    for (const placed of fragment.elements) this.#element(placed, -1);
  }

  add(fragment: Fragment): void {
    this.#count(fragment, 1);
    for (const placed of fragment.elements) this.#element(placed, 1);
  }

  /** What has to be done to the kernel's table, in an order it accepts. */
  operations(): Operation[] {
    const before: Operation[] = [];
    const rules: Operation[] = [];
    const emptied: Operation[] = [];
    const after: Operation[] = [];
    const removedSets = new Set<string>();
    for (const [name, { change, item }] of this.#sets) {
      const held = this.#claims.sets.get(name)?.count ?? 0;
      if (held === 0 && change > 0) before.push({ op: 'add-set', definition: item });
      if (held > 0 && held + change === 0) removedSets.add(name);
    }
    for (const [chain, { change, item }] of this.#chains) {
      const held = this.#claims.chains.get(chain);
      if (held === undefined) {
        if (change <= 0) continue;
        before.push(
          item.base === undefined
            ? { op: 'add-chain', chain }
            : { op: 'add-chain', chain, base: item.base },
        );
        if (item.rules.length > 0) rules.push({ op: 'set-rules', chain, rules: item.rules });
      } else if (held.count + change === 0) {
        emptied.push({ op: 'set-rules', chain, rules: [] });
        after.push({ op: 'remove-chain', chain });
      } else if (!sameRules(held.item, item)) {
        rules.push({ op: 'set-rules', chain, rules: item.rules });
      }
    }
    for (const set of removedSets) after.push({ op: 'remove-set', set });
    return [...before, ...rules, ...this.#elementOperations(removedSets), ...emptied, ...after];
  }

  apply(): void {
    applyDeltas(this.#claims.chains, this.#chains);
    applyDeltas(this.#claims.sets, this.#sets);
    for (const [set, deltas] of this.#shared) {
      applyDeltas(entry(this.#claims.shared, set), deltas);
    }
    for (const [map, keys] of this.#contested) {
      const table = entry(this.#claims.contested, map);
      for (const [key, deltas] of keys) {
        applyDeltas(entry(table, key), deltas);
        if (table.get(key)?.size === 0) table.delete(key);
      }
    }
  }

  #count(fragment: Fragment, change: 1 | -1): void {
    for (const chain of fragment.chains) bump(this.#chains, chain.name, chain, change);
    for (const set of fragment.sets) bump(this.#sets, set.name, set, change);
  }

  #element({ set, element }: PlacedElement, change: 1 | -1): void {
    const id = elementId(element);
    if (sharedSets.has(set)) {
      bump(entry(this.#shared, set), id, element, change);
    } else if (unambiguousMaps.has(set)) {
      bump(entry(entry(this.#contested, set), id), valueId(element.value), element, change);
    } else {
      const own = entry(this.#own, set);
      const exchange = own.get(id) ?? {};
      if (change < 0) exchange.removed = element;
      else exchange.added = element;
      own.set(id, exchange);
    }
  }

  *#elementOperations(removedSets: ReadonlySet<string>): Iterable<Operation> {
    const removals: Operation[] = [];
    const additions: Operation[] = [];
    for (const [set, exchanges] of this.#exchanges()) {
      const removed: Element[] = [];
      const added: Element[] = [];
      for (const exchange of exchanges) {
        if (isSameElement(exchange)) continue;
        if (exchange.removed !== undefined) removed.push(exchange.removed);
        if (exchange.added !== undefined) added.push(exchange.added);
      }
      const definition = this.#sets.get(set)?.item ?? this.#claims.sets.get(set)?.item;
      if (definition === undefined) throw new RangeError(`nothing defines the set ${set}`);
      // The elements of a set that goes away as a whole go with it.
      if (removed.length > 0 && !removedSets.has(set)) {
        removals.push({ op: 'remove-elements', set: definition, elements: removed });
      }
      if (added.length > 0) {
        additions.push({ op: 'add-elements', set: definition, elements: added });
      }
    }
    yield* removals;
    yield* additions;
  }

  *#exchanges(): Iterable<[string, Iterable<Exchange>]> {
    for (const [set, own] of this.#own) yield [set, own.values()];
    for (const [set, deltas] of this.#shared) yield [set, this.#sharedExchanges(set, deltas)];
    for (const [map, keys] of this.#contested) yield [map, this.#contestedExchanges(map, keys)];
  }

  *#sharedExchanges(set: string, deltas: Deltas<Element>): Iterable<Exchange> {
    for (const [id, { change, item }] of deltas) {
      const held = this.#claims.shared.get(set)?.get(id)?.count ?? 0;
      if (held === 0 && change > 0) yield { added: item };
      if (held > 0 && held + change === 0) yield { removed: item };
    }
  }

  *#contestedExchanges(map: string, keys: Map<string, Deltas<Element>>): Iterable<Exchange> {
    for (const [key, deltas] of keys) {
      const held = this.#claims.contested.get(map)?.get(key) ?? new Map<string, Claim<Element>>();
      const next: ClaimTable<Element> = new Map(held);
      applyDeltas(next, deltas);
      const exchange: Exchange = {};
      const removed = onlyClaim(held);
      const added = onlyClaim(next);
      if (removed !== undefined) exchange.removed = removed;
      if (added !== undefined) exchange.added = added;
      yield exchange;
    }
  }
}

function onlyClaim(table: ClaimTable<Element>): Element | undefined {
  const [first, ...others] = table.values();
  return others.length === 0 ? first?.item : undefined;
}

function isSameElement({ removed, added }: Exchange): boolean {
  if (removed === undefined || added === undefined) return removed === added;
  return valueId(removed.value) === valueId(added.value);
}

function sameRules(left: Chain, right: Chain): boolean {
  return left === right || JSON.stringify(left.rules) === JSON.stringify(right.rules);
}

function bump<T>(deltas: Deltas<T>, name: string, item: T, change: 1 | -1): void {
  const delta = deltas.get(name);
  if (delta === undefined) {
    deltas.set(name, { change, item });
  } else {
    delta.change += change;
    if (change > 0) delta.item = item;
  }
}

function applyDeltas<T>(table: ClaimTable<T>, deltas: Deltas<T>): void {
  for (const [name, { change, item }] of deltas) {
    const count = (table.get(name)?.count ?? 0) + change;
    if (count <= 0) table.delete(name);
    else table.set(name, { count, item });
  }
}

function entry<K, V, W>(outer: Map<K, Map<V, W>>, key: K): Map<V, W> {
  let inner = outer.get(key);
  if (inner === undefined) {
    inner = new Map();
    outer.set(key, inner);
  }
  return inner;
}
