import {
  ruleDigest,
  valueId,
  type BaseHook,
  type Chain,
  type Element,
  type NamedSet,
  type PresentRuleset,
  type Ruleset,
  type SetDefinition,
} from '../model/ruleset.ts';
import type { Operation, Transaction } from '../model/transaction.ts';

/**
 * The smallest transaction from the present to the wanted state. If a chain's hook or a set's type differs,
 * which the kernel can't change in place, the whole table is replaced, still atomically.
 */
export function diff(present: PresentRuleset | undefined, wanted: Ruleset): Transaction {
  if (present === undefined) {
    return { table: wanted.table, operations: [{ op: 'add-table' }, ...creation(wanted)] };
  }
  const based = present.generation === undefined ? {} : { basedOn: present.generation };
  if (!isCompatible(present, wanted)) return { ...replacement(wanted), ...based };
  return { table: wanted.table, operations: changes(present, wanted), ...based };
}

/** Replaces the whole table by the wanted one, atomically and without reading it. */
export function replacement(wanted: Ruleset): Transaction {
  return {
    table: wanted.table,
    operations: [{ op: 'remove-table' }, { op: 'add-table' }, ...creation(wanted)],
  };
}

function creation(wanted: Ruleset): Operation[] {
  const nothing: PresentRuleset = { table: wanted.table, chains: new Map(), sets: new Map() };
  return changes(nothing, wanted);
}

/** In an order that the kernel accepts: referenced objects are added first and removed last. */
function changes(present: PresentRuleset, wanted: Ruleset): Operation[] {
  const added: Operation[] = [];
  const rules: Operation[] = [];
  const removals: Operation[] = [];
  const additions: Operation[] = [];
  const emptied: Operation[] = [];
  const removed: Operation[] = [];
  for (const [name, set] of wanted.sets) {
    const old = present.sets.get(name);
    if (old === undefined) added.push({ op: 'add-set', definition: set.definition });
    const change = elementChanges(old, set);
    if (change.removed.length > 0) {
      removals.push({ op: 'remove-elements', set: set.definition, elements: change.removed });
    }
    if (change.added.length > 0) {
      additions.push({ op: 'add-elements', set: set.definition, elements: change.added });
    }
  }
  for (const chain of wanted.chains.values()) {
    const old = present.chains.get(chain.name);
    if (old === undefined) added.push(addChain(chain));
    if (!sameRules(old?.rules ?? [], chain)) {
      rules.push({ op: 'set-rules', chain: chain.name, rules: chain.rules });
    }
  }
  for (const chain of present.chains.keys()) {
    if (wanted.chains.has(chain)) continue;
    emptied.push({ op: 'set-rules', chain, rules: [] });
    removed.push({ op: 'remove-chain', chain });
  }
  for (const set of present.sets.keys()) {
    if (!wanted.sets.has(set)) removed.push({ op: 'remove-set', set });
  }
  return [...added, ...rules, ...removals, ...additions, ...emptied, ...removed];
}

function addChain({ name: chain, base }: Chain): Operation {
  return base === undefined ? { op: 'add-chain', chain } : { op: 'add-chain', chain, base };
}

function elementChanges(old: NamedSet | undefined, wanted: NamedSet) {
  const removed: Element[] = [];
  const added: Element[] = [];
  if (wanted.definition.dynamic === true) return { removed, added };
  for (const [id, element] of old?.elements ?? []) {
    const kept = wanted.elements.get(id);
    if (kept === undefined || valueId(kept.value) !== valueId(element.value)) removed.push(element);
  }
  for (const [id, element] of wanted.elements) {
    const there = old?.elements.get(id);
    if (there === undefined || valueId(there.value) !== valueId(element.value)) added.push(element);
  }
  return { removed, added };
}

function sameRules(present: readonly string[], chain: Chain): boolean {
  return (
    present.length === chain.rules.length &&
    chain.rules.every((rule, index) => ruleDigest(rule) === present[index])
  );
}

function isCompatible(present: PresentRuleset, wanted: Ruleset): boolean {
  for (const [name, chain] of wanted.chains) {
    const old = present.chains.get(name);
    if (old !== undefined && hookText(old.base) !== hookText(chain.base)) return false;
  }
  for (const [name, set] of wanted.sets) {
    const old = present.sets.get(name);
    if (old !== undefined && definitionText(old.definition) !== definitionText(set.definition)) {
      return false;
    }
  }
  return true;
}

function hookText(base: BaseHook | undefined): string {
  return base === undefined ? '' : `${base.type} ${base.hook} ${base.priority}`;
}

function definitionText(definition: SetDefinition): string {
  const { key, value, interval = false, dynamic = false, counter = false } = definition;
  return JSON.stringify([key, value ?? null, interval, dynamic, counter]);
}
