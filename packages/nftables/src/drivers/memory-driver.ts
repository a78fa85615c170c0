import type { Family } from '@causeway/base/address/address';
import { abortedBy } from '@causeway/base/time/clock';
import { applyOperations } from '../plan/apply-operations.ts';
import type { Driver, ElementCount, ForeignChange } from './driver.ts';
import { ForeignChangeQueue } from './foreign-change-queue.ts';
import { families } from '../model/operands.ts';
import { routedTable } from '../compile/routed-ruleset.ts';
import type { RoutingMachine } from '../compile/routed-writer.ts';
import { tracePacket, type Probe, type Trace, type TraceOptions } from '../trace/packet-tracer.ts';
import {
  emptyRuleset,
  ruleDigest,
  type Element,
  type PresentRuleset,
  type Ruleset,
} from '../model/ruleset.ts';
import { TransactionError, type Operation, type Transaction } from '../model/transaction.ts';

/** Keeps the ruleset in memory, for tests, the playground and packet traces. */
export class MemoryDriver implements Driver {
  readonly table: string;
  readonly isOwned = false;
  #ruleset: Ruleset | undefined;
  #generation = 1;
  readonly #changes = new ForeignChangeQueue();

  constructor(table: string) {
    this.table = table;
  }

  apply(transaction: Transaction, signal?: AbortSignal): Promise<void> {
    return attempt(signal, () => this.#commit(transaction));
  }

  read(signal?: AbortSignal): Promise<PresentRuleset | undefined> {
    return attempt(signal, () => {
      const ruleset = this.#ruleset;
      if (ruleset === undefined) return undefined;
      const chains = [...ruleset.chains.values()].map(({ name, base, rules }) => {
        const digests = rules.map(ruleDigest);
        return [name, base === undefined ? { rules: digests } : { base, rules: digests }] as const;
      });
      const { table, sets } = ruleset;
      return { table, generation: this.#generation, chains: new Map(chains), sets };
    });
  }

  elements(set: string, signal?: AbortSignal): Promise<readonly Element[]> {
    return attempt(signal, () => [...(this.#ruleset?.sets.get(set)?.elements.values() ?? [])]);
  }

  counters(set: string, signal?: AbortSignal): Promise<ReadonlyMap<string, ElementCount>> {
    return attempt(signal, () => {
      const elements = this.#ruleset?.sets.get(set)?.elements ?? new Map<string, never>();
      return new Map([...elements.keys()].map((id) => [id, { packets: 0n, bytes: 0n }]));
    });
  }

  watch(signal: AbortSignal, onListening?: () => void): AsyncIterable<ForeignChange> {
    onListening?.();
    return this.#changes.until(signal);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Changes the table like another program. */
  interfere(operations: readonly Operation[]): void {
    this.#ruleset = applyOperations(this.#ruleset ?? emptyRuleset(this.table), operations);
    if (operations.some(({ op }) => op === 'remove-table')) this.#ruleset = undefined;
    this.#generation += 1;
    this.#changes.push({ table: this.table, what: 'changed by another process' });
  }

  /** Traces this packet. */
  trace(probe: Probe, options: TraceOptions): Trace {
    return tracePacket(this.#ruleset ?? emptyRuleset(this.table), probe, options);
  }

  #commit(transaction: Transaction): void {
    if (transaction.operations.length === 0) return;
    if (transaction.basedOn !== undefined && transaction.basedOn !== this.#generation) {
      throw new TransactionError(
        'the ruleset has changed in the meantime',
        {},
        { code: 'conflict' },
      );
    }
    const creates = transaction.operations.some(({ op }) => op === 'add-table');
    if (this.#ruleset === undefined && !creates) {
      throw new TransactionError(`there is no table ${this.table}`, {}, { code: 'conflict' });
    }
    const before = this.#ruleset ?? emptyRuleset(this.table);
    const after = applyOperations(before, transaction.operations);
    const last = transaction.operations.findLast(({ op }) => op.endsWith('-table'));
    this.#ruleset = last?.op === 'remove-table' ? undefined : after;
    this.#generation += 1;
  }
}

/** Tables beside the main one, in memory too. */
export function memoryRouting(table: string): RoutingMachine & {
  readonly tables: ReadonlyMap<Family, MemoryDriver>;
} {
  const tables = new Map(
    families.map((family) => [family, new MemoryDriver(routedTable(table, family))]),
  );
  return {
    tables,
    open: async (family) => tables.get(family) ?? new MemoryDriver(routedTable(table, family)),
    prepare: () => Promise.resolve(),
  };
}

async function attempt<T>(signal: AbortSignal | undefined, work: () => T): Promise<T> {
  if (signal?.aborted === true) throw abortedBy(signal);
  await Promise.resolve();
  return work();
}
