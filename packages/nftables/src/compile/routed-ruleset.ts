import { familyOf, type Address, type Family } from '@causeway/base/address/address';
import { parsePort } from '@causeway/base/address/port';
import type { HashOperand, Rule, Statement, Verdict } from '../model/expression.ts';
import { FragmentBuilder, type FilledSet } from './fragment.ts';
import { derivedName, type HashBy } from '../model/names.ts';
import {
  differs,
  drop,
  equals,
  isIn,
  isNotIn,
  isPlainSyn,
  protocol,
  protocolNumbers,
  source,
  sourcePort,
  target,
  verdict,
} from '../model/operands.ts';
import { rangeSet } from './range-set.ts';
import {
  elementId,
  type Chain,
  type DataType,
  type Element,
  type Field,
  type SetDefinition,
  valueId,
  type Ruleset,
} from '../model/ruleset.ts';
import { addressType, hashed } from './skeleton.ts';
import { buildSlotTable } from './slot-table.ts';
import type { LayoutSettings, VirtualService } from './virtual-service.ts';

/** A service with packets that are forwarded to a node unchanged. */
export type RoutedService = VirtualService & {
  readonly dispatch: Extract<VirtualService['dispatch'], { kind: 'nodes-unchanged' }>;
};

export function isRouted(service: VirtualService): service is RoutedService {
  return service.dispatch.kind === 'nodes-unchanged';
}

/** The table beside the main one. nftables supports `dup` in tables of one family only. */
export function routedTable(table: string, family: Family): string {
  return `${table}-routed${family}`;
}

/** Before connection tracking: forwarded packets do not belong to connections of this machine. */
const beforeTracking = -300;

/**
 * Counters per service. Nothing is tracked here, so TCP connections are counted by their first packet; for
 * other protocols every packet counts.
 */
export const routedCounts = 'counts';

const names = {
  routes: 'routes',
  answers: 'answers',
  nodes: 'nodes',
  slots: 'slots',
  prerouting: 'prerouting',
  nodesChain: (by: HashBy) => `nodes-${by}`,
  slotsChain: (by: HashBy, modulus: number) => `slots-${by}-${modulus}`,
} as const;

/**
 * The table that forwards packets of one family to nodes without rewriting. A copy goes to the node that the
 * hash selects, the same on every gateway; the packet itself is dropped. Undefined if no service uses it. A
 * service without nodes has no route: the main table rejects its packets.
 */
export function routedRuleset(
  family: Family,
  settings: Pick<LayoutSettings, 'table' | 'hashSeed'>,
  services: Iterable<RoutedService>,
  nodes: readonly Address[],
): Ruleset | undefined {
  const own = [...services].filter(({ address }) => familyOf(address) === family);
  if (own.length === 0) return undefined;
  const compiler = new RoutedCompiler(family, settings.hashSeed);
  compiler.shared(nodes);
  for (const service of own) compiler.service(service);
  return compiler.ruleset(routedTable(settings.table, family));
}

class RoutedCompiler {
  readonly #family: Family;
  readonly #seed: number;
  readonly #fragment = new FragmentBuilder();
  readonly #chains = new Map<string, readonly Rule[]>();
  readonly #rangeSets = new Map<string, FilledSet>();
  #sharedTable: readonly Address[] = [];

  constructor(family: Family, seed: number) {
    this.#family = family;
    this.#seed = seed;
    const address = addressType(family);
    const key: DataType[] = [address, 'inet_proto', 'inet_service'];
    this.#fragment.sets.push(
      { name: names.routes, key, value: 'verdict' },
      { name: routedCounts, key, counter: true },
      { name: names.answers, key },
      { name: names.nodes, key: ['slot'], value: [address] },
      { name: names.slots, key: [...key, 'slot'], value: [address] },
    );
  }

  /** The nodes for services without their own. */
  shared(nodes: readonly Address[]): void {
    const table = this.#table(nodes);
    for (const [slot, node] of table.entries()) {
      this.#fragment.element(names.nodes, [slot], [node]);
    }
    this.#sharedTable = table;
  }

  service(service: RoutedService): void {
    const key: Field[] = [service.address, protocolNumbers[service.protocol], service.port];
    this.#fragment.element(names.answers, key);
    const route = this.#route(service, key);
    if (route !== undefined) {
      this.#fragment.element(routedCounts, key);
      this.#fragment.element(names.routes, key, this.#guarded(service, route));
    }
  }

  ruleset(table: string): Ruleset {
    const family = this.#family;
    const answers = [source(family), protocol, sourcePort];
    const count = isIn(target(family), routedCounts);
    const rules: Rule[] = [
      { statements: [equals(protocol, protocolNumbers.TCP), isPlainSyn, count] },
      { statements: [differs(protocol, protocolNumbers.TCP), count] },
      { statements: [{ kind: 'dispatch', key: target(family), map: names.routes }] },
      // The connection is unknown here, so conntrack would treat its answers as invalid.
      { statements: [isIn(answers, names.answers), { kind: 'notrack' }] },
    ];
    const base = { type: 'filter', hook: 'prerouting', priority: beforeTracking } as const;
    const chains = new Map<string, Chain>();
    for (const [name, own] of this.#chains) chains.set(name, { name, rules: own });
    chains.set(names.prerouting, { name: names.prerouting, base, rules });
    return { table, chains, sets: this.#sets() };
  }

  #sets(): Ruleset['sets'] {
    const sets = new Map<string, { definition: SetDefinition; elements: Map<string, Element> }>();
    for (const definition of this.#fragment.sets) {
      sets.set(definition.name, { definition, elements: new Map() });
    }
    for (const { set, element } of this.#fragment.elements) {
      sets.get(set)?.elements.set(elementId(element), element);
    }
    for (const [name, { definition, elements }] of this.#rangeSets) {
      const entries = elements.map((element): [string, Element] => [elementId(element), element]);
      sets.set(name, { definition, elements: new Map(entries) });
    }
    return sets;
  }

  #route(service: RoutedService, key: readonly Field[]): Verdict | undefined {
    const by = (service.affinity ?? { kind: 'none' }).kind === 'none' ? 'connection' : 'client';
    const { nodes } = service.dispatch;
    if (nodes === undefined) {
      if (this.#sharedTable.length === 0) return undefined;
      const slot = this.#hash(by, this.#sharedTable.length);
      return this.#sending(names.nodesChain(by), {
        kind: 'send-to',
        key: [slot],
        map: names.nodes,
      });
    }
    const table = this.#narrowed(nodes);
    if (table.length === 0) return undefined;
    for (const [slot, node] of table.entries()) {
      this.#fragment.element(names.slots, [...key, slot], [node]);
    }
    const slot = this.#hash(by, table.length);
    return this.#sending(names.slotsChain(by, table.length), {
      kind: 'send-to',
      key: [...target(this.#family), slot],
      map: names.slots,
    });
  }

  #sending(chain: string, send: Statement): Verdict {
    this.#chains.set(chain, [{ statements: [send] }, { statements: [drop] }]);
    return { kind: 'goto', chain };
  }

  #guarded(service: RoutedService, route: Verdict): Verdict {
    const { sourceRanges } = service;
    if (sourceRanges === undefined) return route;
    const family = this.#family;
    const set = rangeSet(sourceRanges, family);
    const ranges = set.definition.name;
    const chain = derivedName('admit', ranges, valueId(route));
    this.#rangeSets.set(ranges, set);
    this.#chains.set(chain, [
      { statements: [isNotIn([source(family)], ranges), drop] },
      { statements: [verdict(route)] },
    ]);
    return { kind: 'goto', chain };
  }

  #hash(by: HashBy, modulus: number): HashOperand {
    return { kind: 'hash', of: hashed(this.#family, by), modulus, seed: this.#seed };
  }

  /**
   * The slot table of all nodes, with the slots of excluded nodes reassigned. Nothing is tracked here, so
   * when a service wakes and uses fewer nodes, the remaining nodes must keep their connections.
   */
  #narrowed(nodes: readonly Address[]): readonly Address[] {
    const own = this.#table(nodes);
    const all = this.#sharedTable;
    const size = own.length === 0 ? 0 : Math.max(own.length, all.length);
    const wanted = new Set(own);
    const at = (table: readonly Address[], slot: number) =>
      table[Math.floor((slot * table.length) / size)];
    return Array.from({ length: size }, (_, slot) => {
      const before = at(all, slot);
      return before !== undefined && wanted.has(before) ? before : at(own, slot);
    }).filter((node) => node !== undefined);
  }

  #table(nodes: readonly Address[]): Address[] {
    // The port has no effect: it only gives a node the form of a backend.
    const port = parsePort(1);
    const members = nodes.filter((node) => familyOf(node) === this.#family);
    const backends = members.map((address) => ({ address, port }));
    return buildSlotTable(backends, this.#seed).map(({ address }) => address);
  }
}
