import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import { diff } from '../plan/diff.ts';
import type { Driver, ElementCount } from '../drivers/driver.ts';
import type { LayoutChange } from './layout-change.ts';
import { families } from '../model/operands.ts';
import { isRouted, routedCounts, routedRuleset, type RoutedService } from './routed-ruleset.ts';
import { ruleDigest, type PresentRuleset, type Ruleset } from '../model/ruleset.ts';
import { isEmpty } from '../model/transaction.ts';
import {
  serviceKey,
  type LayoutSettings,
  type ServiceKey,
  type VirtualService,
} from './virtual-service.ts';

/** The functions of the machine that the tables need. */
export interface RoutingMachine {
  open(family: Family): Promise<Driver>;
  /**
   * Called before packets are forwarded: their answers will have an address of this machine as their source.
   */
  prepare(): Promise<void>;
}

interface RoutedState {
  readonly services: ReadonlyMap<ServiceKey, RoutedService>;
  readonly nodes: readonly Address[];
}

interface OpenTable {
  readonly driver: Driver;
  /** The known state of the kernel. */
  present: PresentRuleset | undefined;
}

/**
 * Keeps the two tables that forward packets to nodes unchanged, one per family. A table exists only while a
 * service needs it. Each table changes atomically, but the two and the main table change one after another.
 * The caller of a failed commit must commit the opposite change.
 */
export class RoutedWriter {
  readonly #machine: RoutingMachine;
  readonly #settings: Pick<LayoutSettings, 'table' | 'hashSeed'>;
  readonly #listen: (driver: Driver) => Promise<void>;
  readonly #tables = new Map<Family, OpenTable>();
  #state: RoutedState = { services: new Map(), nodes: [] };
  /** A commit failed between two tables: the tables may be ahead of the state. */
  #isTorn = false;

  /** The callback runs before a wanted table is read or written, so that the table can be watched. */
  constructor(
    machine: RoutingMachine,
    settings: Pick<LayoutSettings, 'table' | 'hashSeed'>,
    listen: (driver: Driver) => Promise<void> = () => Promise.resolve(),
  ) {
    this.#machine = machine;
    this.#settings = settings;
    this.#listen = listen;
  }

  /** Whether any service is routed. */
  get isInUse(): boolean {
    return this.#state.services.size > 0;
  }

  /** The existing tables. */
  drivers(): Driver[] {
    return [...this.#tables.values()].map(({ driver }) => driver);
  }

  /** True if something was written. */
  async commit(change: LayoutChange, signal: AbortSignal): Promise<boolean> {
    const next = stateAfter(this.#state, change);
    const isTouched =
      next.services !== this.#state.services ||
      (this.isInUse && change.nodes !== undefined) ||
      this.#isTorn;
    if (!isTouched) {
      this.#state = next;
      return false;
    }
    return this.#write(next, signal);
  }

  /** Reads the tables of an earlier process, and replaces them by exactly this state. */
  async replaceAll(
    services: readonly VirtualService[],
    nodes: readonly Address[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const routed = services.filter(isRouted);
    for (const family of families) {
      const table = await this.#table(family);
      const isWanted = routed.some(({ address }) => familyOf(address) === family);
      if (isWanted) await this.#listen(table.driver);
      table.present = await table.driver.read(signal);
    }
    const byKey = new Map(routed.map((one) => [serviceKey(one), one]));
    return this.#write({ services: byKey, nodes }, signal);
  }

  /** Counters of each routed service, by the key of its element. */
  async counts(signal: AbortSignal): Promise<ReadonlyMap<string, ElementCount>> {
    const counts = new Map<string, ElementCount>();
    for (const { driver, present } of this.#tables.values()) {
      if (present === undefined) continue;
      for (const [id, count] of await driver.counters(routedCounts, signal)) counts.set(id, count);
    }
    return counts;
  }

  async close(): Promise<void> {
    for (const { driver } of this.#tables.values()) await driver.close();
    this.#tables.clear();
  }

  async #write(next: RoutedState, signal: AbortSignal): Promise<boolean> {
    let wrote = false;
    this.#isTorn = true;
    if (next.services.size > 0) await this.#machine.prepare();
    for (const family of families) {
      const wanted = routedRuleset(family, this.#settings, next.services.values(), next.nodes);
      if (wanted === undefined && !this.#tables.has(family)) continue;
      wrote = (await this.#bring(family, wanted, signal)) || wrote;
    }
    this.#isTorn = false;
    this.#state = next;
    return wrote;
  }

  async #bring(family: Family, wanted: Ruleset | undefined, signal: AbortSignal): Promise<boolean> {
    const table = await this.#table(family);
    const { driver, present } = table;
    if (wanted === undefined) {
      if (present !== undefined) {
        await driver.apply({ table: driver.table, operations: [{ op: 'remove-table' }] }, signal);
      }
      this.#tables.delete(family);
      await driver.close();
      return present !== undefined;
    }
    await this.#listen(driver);
    const { basedOn: _, ...transaction } = diff(present, wanted);
    if (!isEmpty(transaction)) await driver.apply(transaction, signal);
    table.present = asPresent(wanted);
    return !isEmpty(transaction);
  }

  async #table(family: Family): Promise<OpenTable> {
    const known = this.#tables.get(family);
    if (known !== undefined) return known;
    const opened: OpenTable = { driver: await this.#machine.open(family), present: undefined };
    this.#tables.set(family, opened);
    return opened;
  }
}

/** Returns the same services object if none of them changes. */
function stateAfter(state: RoutedState, { set, remove, nodes }: LayoutChange): RoutedState {
  const removed = (remove ?? []).filter((key) => state.services.has(key));
  const touched = (set ?? []).filter(
    (service) => isRouted(service) || state.services.has(serviceKey(service)),
  );
  const kept = { nodes: nodes ?? state.nodes };
  if (removed.length + touched.length === 0) return { ...state, ...kept };
  const services = new Map(state.services);
  for (const key of removed) services.delete(key);
  for (const service of touched) {
    if (isRouted(service)) services.set(serviceKey(service), service);
    else services.delete(serviceKey(service));
  }
  return { services, ...kept };
}

function asPresent({ table, chains, sets }: Ruleset): PresentRuleset {
  const digests = [...chains.values()].map(({ name, base, rules }) => {
    const own = rules.map(ruleDigest);
    return [name, base === undefined ? { rules: own } : { base, rules: own }] as const;
  });
  return { table, chains: new Map(digests), sets };
}
