import type { FilledSet, Fragment, PlacedElement } from './fragment.ts';
import { listeners, setNames } from '../model/names.ts';
import { families } from '../model/operands.ts';
import {
  elementId,
  valueId,
  type Chain,
  type Element,
  type SetDefinition,
} from '../model/ruleset.ts';
import type { Operation } from '../model/transaction.ts';

/** Sets in which several fragments may have the same element. The element is deleted with its last owner. */
const sharedSets = new Set([
  ...families.flatMap((f) => [setNames.addresses(f), setNames.hairpin(f)]),
  listeners,
]);
/** Maps in which a key with two different values has no element, because the correct value is unknown. */
const unambiguousMaps = new Set(
  families.flatMap((f) => [setNames.reverse(f), setNames.reverseNodePorts(f)]),
);

interface Counted<T> {
  count: number;
  readonly item: T;
}
type CountTable<T> = Map<string, Counted<T>>;

/**
 * Owners of the parts that several fragments share. Parts of a single fragment are not kept here: they follow
 * from the fragment's source.
 */
export class AddressOwners {
  readonly chains: CountTable<Chain> = new Map();
  readonly sets: CountTable<SetDefinition> = new Map();
  readonly filledSets: CountTable<FilledSet> = new Map();
  /** By set and element. */
  readonly shared = new Map<string, CountTable<Element>>();
  /** By map and key. */
  readonly contested = new Map<string, Map<string, Contest>>();

  /** The elements of a key of the map, if it has more than one value. */
  ambiguity(map: string, id: string): readonly Element[] {
    const contest = this.contested.get(map)?.get(id);
    if (!(contest instanceof Map) || contest.size < 2) return [];
    return [...contest.values()].map(({ item }) => item);
  }

  /** Keys of the map that have more than one value. */
  *ambiguous(map: string): Iterable<readonly Element[]> {
    for (const contest of this.contested.get(map)?.values() ?? []) {
      if (!(contest instanceof Map) || contest.size < 2) continue;
      yield [...contest.values()].map(({ item }) => item);
    }
  }
}

/**
 * Owners by value. A key with one value holds only its element, because there are tens of thousands of
 * those.
 */
type Contest = CountTable<Element> | Element;

function unpack(contest: Contest | undefined): CountTable<Element> {
  if (contest === undefined) return new Map();
  if (contest instanceof Map) return contest;
  return new Map([[valueId(contest.value), { count: 1, item: contest }]]);
}

function compact(table: CountTable<Element>): Contest {
  const [first] = table.values();
  return first?.count === 1 && table.size === 1 ? first.item : table;
}

interface Delta<T> {
  change: number;
  item: T;
}
type Deltas<T> = Map<string, Delta<T>>;

interface ElementChange {
  readonly removed: Element[];
  readonly added: Element[];
}

/** The difference between the old and the new fragments. Nothing changes until it is applied. */
export class AddressOwnerChange {
  readonly #owners: AddressOwners;
  readonly #chains: Deltas<Chain> = new Map();
  readonly #sets: Deltas<SetDefinition> = new Map();
  readonly #filledSets: Deltas<FilledSet> = new Map();
  /** Changes of sets with elements that belong to one fragment each. */
  readonly #own = new Map<string, ElementChange>();
  readonly #shared = new Map<string, Deltas<Element>>();
  readonly #contested = new Map<string, Map<string, Deltas<Element>>>();

  constructor(owners: AddressOwners) {
    this.#owners = owners;
  }

  /** Replaces the old contribution of a source by its new one. */
  exchange(before: Fragment | undefined, after: Fragment | undefined): void {
    const same = before === undefined || after === undefined ? 0 : this.#inStep(before, after);
    const old =
      before === undefined ? undefined : this.#withdraw(before, same, after !== undefined);
    for (const chain of after?.chains ?? []) bump(this.#chains, chain.name, chain, 1);
    for (const set of after?.sets ?? []) bump(this.#sets, set.name, set, 1);
    for (const set of after?.filledSets ?? []) bump(this.#filledSets, set.definition.name, set, 1);
    for (const placed of after?.elements.slice(same) ?? []) {
      if (this.#sharedElement(placed, 1)) continue;
      const previous = old?.get(placementId(placed));
      if (previous !== undefined) old?.delete(placementId(placed));
      this.#replace(placed.set, previous?.element, placed.element);
    }
    for (const placed of old?.values() ?? []) this.#replace(placed.set, placed.element, undefined);
  }

  /**
   * Replaces the leading elements that have the same keys in both fragments, and returns their number. If the
   * number of slots is unchanged, they include a service's slots: sixteen thousand for a thousand backends.
   */
  #inStep(before: Fragment, after: Fragment): number {
    const most = Math.min(before.elements.length, after.elements.length);
    for (let index = 0; index < most; index += 1) {
      const [old, now] = [before.elements[index], after.elements[index]];
      if (old === undefined || now === undefined || !sameKey(old, now)) return index;
      if (equalValues(old.element.value, now.element.value)) continue;
      if (isShared(now.set)) return index;
      this.#replace(now.set, old.element, now.element);
    }
    return most;
  }

  /**
   * Releases a fragment from the given element on. If the elements may be replaced, it returns those that no
   * other fragment has.
   */
  #withdraw(
    fragment: Fragment,
    from: number,
    mayBeReplaced: boolean,
  ): Map<string, PlacedElement> | undefined {
    for (const chain of fragment.chains) bump(this.#chains, chain.name, chain, -1);
    for (const set of fragment.sets) bump(this.#sets, set.name, set, -1);
    for (const set of fragment.filledSets) bump(this.#filledSets, set.definition.name, set, -1);
    const own = new Map<string, PlacedElement>();
    for (const placed of fragment.elements.slice(from)) {
      if (this.#sharedElement(placed, -1)) continue;
      if (mayBeReplaced) own.set(placementId(placed), placed);
      else this.#replace(placed.set, placed.element, undefined);
    }
    return mayBeReplaced ? own : undefined;
  }

  /** Counts an element that several fragments may have; returns false for other elements. */
  #sharedElement({ set, element }: PlacedElement, change: 1 | -1): boolean {
    if (sharedSets.has(set)) {
      bump(entry(this.#shared, set), elementId(element), element, change);
      return true;
    }
    if (!unambiguousMaps.has(set)) return false;
    const values = entry(entry(this.#contested, set), elementId(element));
    bump(values, valueId(element.value), element, change);
    return true;
  }

  #replace(set: string, removed: Element | undefined, added: Element | undefined): void {
    if (removed !== undefined && added !== undefined && equalValues(removed.value, added.value)) {
      return;
    }
    let change = this.#own.get(set);
    if (change === undefined) {
      change = { removed: [], added: [] };
      this.#own.set(set, change);
    }
    if (removed !== undefined) change.removed.push(removed);
    if (added !== undefined) change.added.push(added);
  }

  /** The operations for the kernel's table, in an order that it accepts. */
  operations(): Operation[] {
    const before: Operation[] = [];
    const rules: Operation[] = [];
    const emptied: Operation[] = [];
    const after: Operation[] = [];
    const removedSets = new Set<string>();
    for (const [name, { change, item }] of this.#sets) {
      const held = this.#owners.sets.get(name)?.count ?? 0;
      if (held === 0 && change > 0) before.push({ op: 'add-set', definition: item });
      if (held > 0 && held + change === 0) removedSets.add(name);
    }
    for (const [set, { change, item }] of this.#filledSets) {
      const held = this.#owners.filledSets.get(set)?.count ?? 0;
      if (held === 0 && change > 0) {
        before.push({ op: 'add-set', definition: item.definition });
        if (item.elements.length === 0) continue;
        before.push({ op: 'add-elements', set: item.definition, elements: item.elements });
      }
      if (held > 0 && held + change === 0) removedSets.add(set);
    }
    for (const [chain, { change, item }] of this.#chains) {
      const held = this.#owners.chains.get(chain);
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
    applyDeltas(this.#owners.chains, this.#chains);
    applyDeltas(this.#owners.sets, this.#sets);
    applyDeltas(this.#owners.filledSets, this.#filledSets);
    for (const [set, deltas] of this.#shared) {
      applyDeltas(entry(this.#owners.shared, set), deltas);
    }
    for (const [map, keys] of this.#contested) {
      const table = entry(this.#owners.contested, map);
      for (const [key, deltas] of keys) {
        const counts = unpack(table.get(key));
        applyDeltas(counts, deltas);
        if (counts.size === 0) table.delete(key);
        else table.set(key, compact(counts));
      }
    }
  }

  #elementOperations(removedSets: ReadonlySet<string>): Operation[] {
    const removals: Operation[] = [];
    const additions: Operation[] = [];
    for (const [name, { removed, added }] of this.#elementChanges()) {
      const set = this.#sets.get(name)?.item ?? this.#owners.sets.get(name)?.item;
      if (set === undefined) throw new RangeError(`nothing defines the set ${name}`);
      // The elements of a removed set are deleted with it.
      if (removed.length > 0 && !removedSets.has(name)) {
        removals.push({ op: 'remove-elements', set, elements: removed });
      }
      if (added.length > 0) additions.push({ op: 'add-elements', set, elements: added });
    }
    return [...removals, ...additions];
  }

  *#elementChanges(): Iterable<[string, ElementChange]> {
    yield* this.#own;
    for (const [set, deltas] of this.#shared) yield [set, this.#sharedChange(set, deltas)];
    for (const [map, keys] of this.#contested) yield [map, this.#contestedChange(map, keys)];
  }

  #sharedChange(set: string, deltas: Deltas<Element>): ElementChange {
    const result: ElementChange = { removed: [], added: [] };
    for (const [id, { change, item }] of deltas) {
      const held = this.#owners.shared.get(set)?.get(id)?.count ?? 0;
      if (held === 0 && change > 0) result.added.push(item);
      if (held > 0 && held + change === 0) result.removed.push(item);
    }
    return result;
  }

  #contestedChange(map: string, keys: Map<string, Deltas<Element>>): ElementChange {
    const result: ElementChange = { removed: [], added: [] };
    for (const [key, deltas] of keys) {
      const held = unpack(this.#owners.contested.get(map)?.get(key));
      const next: CountTable<Element> = new Map(held);
      applyDeltas(next, deltas);
      const removed = onlyItem(held);
      const added = onlyItem(next);
      if (removed !== undefined && added !== undefined) {
        if (equalValues(removed.value, added.value)) continue;
      }
      if (removed !== undefined) result.removed.push(removed);
      if (added !== undefined) result.added.push(added);
    }
    return result;
  }
}

function placementId({ set, element }: PlacedElement): string {
  return `${set} ${elementId(element)}`;
}

function isShared(set: string): boolean {
  return sharedSets.has(set) || unambiguousMaps.has(set);
}

/** Compares field by field: building a text for each key would take longer than everything else. */
function sameKey(left: PlacedElement, right: PlacedElement): boolean {
  return (
    left.set === right.set &&
    equalFields(left.element.key, right.element.key) &&
    equalFields(left.element.keyEnd, right.element.keyEnd)
  );
}

function equalValues(left: Element['value'], right: Element['value']): boolean {
  if (left === undefined || right === undefined) return left === right;
  if ('kind' in left || 'kind' in right) return valueId(left) === valueId(right);
  return equalFields(left, right);
}

function equalFields(left: Element['keyEnd'], right: Element['keyEnd']): boolean {
  if (left === undefined || right === undefined) return left === right;
  return left.length === right.length && left.every((field, index) => field === right[index]);
}

function onlyItem(table: CountTable<Element>): Element | undefined {
  const [first, ...others] = table.values();
  return others.length === 0 ? first?.item : undefined;
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

function applyDeltas<T>(table: CountTable<T>, deltas: Deltas<T>): void {
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
