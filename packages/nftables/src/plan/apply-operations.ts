import {
  elementId,
  type Chain,
  type Element,
  type NamedSet,
  type Ruleset,
  type SetDefinition,
} from '../model/ruleset.ts';
import { TransactionError, type ElementsOperation, type Operation } from '../model/transaction.ts';

interface MutableSet {
  readonly definition: SetDefinition;
  readonly elements: Map<string, Element>;
}

/**
 * The ruleset after the operations. Rejects what the kernel rejects: objects that are added twice, missing,
 * or still in use. The input is not modified.
 */
export function applyOperations(ruleset: Ruleset, operations: readonly Operation[]): Ruleset {
  const work = new Workspace(ruleset);
  for (const operation of operations) work.apply(operation);
  return work.finish();
}

class Workspace {
  readonly #table: string;
  #chains: Map<string, Chain>;
  #sets: Map<string, NamedSet | MutableSet>;
  /** Sets that were copied and may be modified. */
  readonly #owned = new Map<string, MutableSet>();

  constructor(ruleset: Ruleset) {
    this.#table = ruleset.table;
    this.#chains = new Map(ruleset.chains);
    this.#sets = new Map(ruleset.sets);
  }

  finish(): Ruleset {
    this.#checkReferences();
    return { table: this.#table, chains: this.#chains, sets: this.#sets };
  }

  apply(operation: Operation): void {
    switch (operation.op) {
      case 'add-table':
        return;
      case 'remove-table':
        this.#chains = new Map();
        this.#sets = new Map();
        this.#owned.clear();
        return;
      case 'add-chain': {
        const { chain: name, base } = operation;
        const rules = this.#chains.get(name)?.rules ?? [];
        this.#chains.set(name, base === undefined ? { name, rules } : { name, base, rules });
        return;
      }
      case 'remove-chain':
        if (!this.#chains.delete(operation.chain)) throw missing(operation, operation.chain);
        return;
      case 'set-rules': {
        const chain = this.#chains.get(operation.chain);
        if (chain === undefined) throw missing(operation, operation.chain);
        this.#chains.set(operation.chain, { ...chain, rules: operation.rules });
        return;
      }
      case 'add-set':
        this.#addSet(operation.definition);
        return;
      case 'remove-set':
        if (!this.#sets.delete(operation.set)) throw missing(operation, operation.set);
        this.#owned.delete(operation.set);
        return;
      case 'flush-set':
        this.#writable(operation, operation.set).elements.clear();
        return;
      case 'add-elements':
      case 'remove-elements':
        this.#elements(operation);
        return;
    }
  }

  #addSet(definition: SetDefinition): void {
    if (this.#sets.has(definition.name)) return;
    const set = { definition, elements: new Map<string, Element>() };
    this.#sets.set(definition.name, set);
    this.#owned.set(definition.name, set);
  }

  #elements(operation: ElementsOperation): void {
    const { elements } = this.#writable(operation, operation.set.name);
    for (const element of operation.elements) {
      const id = elementId(element);
      if (operation.op === 'add-elements') {
        if (elements.has(id)) throw fault(operation, element, 'is there already', 'conflict');
        elements.set(id, element);
      } else if (!elements.delete(id)) {
        throw fault(operation, element, 'is not there', 'conflict');
      }
    }
  }

  #writable(operation: Operation, name: string): MutableSet {
    const owned = this.#owned.get(name);
    if (owned !== undefined) return owned;
    const set = this.#sets.get(name);
    if (set === undefined) throw missing(operation, name);
    const copy = { definition: set.definition, elements: new Map(set.elements) };
    this.#owned.set(name, copy);
    this.#sets.set(name, copy);
    return copy;
  }

  #checkReferences(): void {
    for (const chain of this.#chains.values()) {
      for (const { statements } of chain.rules) {
        for (const statement of statements) {
          if (statement.kind === 'verdict' && 'chain' in statement.verdict) {
            this.#requireChain(statement.verdict.chain, `the chain ${chain.name}`);
          }
        }
      }
    }
    for (const { definition, elements } of this.#owned.values()) {
      if (definition.value !== 'verdict') continue;
      for (const { value } of elements.values()) {
        if (value === undefined || !('kind' in value) || !('chain' in value)) continue;
        this.#requireChain(value.chain, `the map ${definition.name}`);
      }
    }
  }

  #requireChain(name: string, user: string): void {
    if (this.#chains.has(name)) return;
    throw new TransactionError(`${user} refers to the chain ${name}, which is not there`, {});
  }
}

function missing(operation: Operation, name: string): TransactionError {
  return new TransactionError(`there is no ${name}`, { operation }, { code: 'conflict' });
}

function fault(
  operation: ElementsOperation,
  element: Element,
  what: string,
  code: 'conflict',
): TransactionError {
  const message = `the element ${elementId(element)} of ${operation.set.name} ${what}`;
  return new TransactionError(message, { operation, element }, { code });
}
