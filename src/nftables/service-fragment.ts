import { familyOf, type Family } from '../domain/address.ts';
import { mergedRanges } from './address-ranges.ts';
import type { Rule, Verdict } from './expression.ts';
import { FragmentBuilder, type Fragment } from './fragment.ts';
import {
  chainNames,
  derivedName,
  holdChain,
  nodesChain,
  setNames,
  slotChain,
  type HashBy,
} from './names.ts';
import {
  drop,
  equals,
  goto,
  isFamily,
  isIn,
  isNotIn,
  protocol,
  protocolNumbers,
  source,
  target,
} from './operands.ts';
import type { Field } from './ruleset.ts';
import { addressType } from './skeleton.ts';
import { buildSlotTable } from './slot-table.ts';
import {
  serviceKey,
  type Endpoint,
  type LayoutSettings,
  type VirtualService,
} from './virtual-service.ts';

/** What one service adds to the ruleset. Depends on nothing but the service and the settings. */
export function serviceFragment(service: VirtualService, settings: LayoutSettings): Fragment {
  return new ServiceCompiler(service, settings).compile();
}

class ServiceCompiler {
  readonly #service: VirtualService;
  readonly #settings: LayoutSettings;
  readonly #family: Family;
  readonly #key: readonly Field[];
  readonly #fragment = new FragmentBuilder();

  constructor(service: VirtualService, settings: LayoutSettings) {
    this.#service = service;
    this.#settings = settings;
    this.#family = familyOf(service.address);
    this.#key = [service.address, protocolNumbers[service.protocol], service.port];
  }

  compile(): Fragment {
    const family = this.#family;
    this.#fragment.element(setNames.counts(family), this.#key);
    if (this.#service.exclusiveAddress !== false) {
      this.#fragment.element(setNames.addresses(family), [this.#service.address]);
    }
    const verdict = this.#guarded(this.#dispatch());
    if (verdict !== undefined) {
      this.#fragment.element(setNames.services(family), this.#key, verdict);
    }
    this.#masquerade();
    return this.#fragment;
  }

  /** Where an admitted connection goes; undefined where it is to fall through and be refused. */
  #dispatch(): Verdict | undefined {
    const { dispatch } = this.#service;
    switch (dispatch.kind) {
      case 'slots':
        return this.#toEndpoints(dispatch.endpoints);
      case 'node-ports':
        this.#fragment.element(setNames.nodePorts(this.#family), this.#key, [dispatch.nodePort]);
        this.#fragment.element(
          setNames.reverseNodePorts(this.#family),
          [protocolNumbers[this.#service.protocol], dispatch.nodePort],
          [this.#service.address, this.#service.port],
        );
        return { kind: 'goto', chain: nodesChain(this.#family, this.#hashBy()) };
      case 'route-unchanged':
        this.#fragment.element(setNames.routed(this.#family), this.#key);
        return undefined;
      case 'hold':
        return this.#hold(dispatch.logGroup);
      default:
        return dispatch satisfies never;
    }
  }

  #toEndpoints(endpoints: readonly Endpoint[]): Verdict | undefined {
    if (endpoints.length === 0) return this.#withoutEndpoints();
    const { affinity } = this.#service;
    if (affinity?.kind === 'client-timeout') return this.#remembering(endpoints, affinity.seconds);
    return this.#slots(endpoints);
  }

  #hashBy(): HashBy {
    return (this.#service.affinity ?? { kind: 'none' }).kind === 'none' ? 'connection' : 'client';
  }

  #withoutEndpoints(): Verdict | undefined {
    if (this.#service.withoutEndpoints === 'drop') return { kind: 'drop' };
    if (this.#service.exclusiveAddress === false) {
      this.#fragment.element(setNames.refused(this.#family), this.#key);
    }
    return undefined;
  }

  #slots(endpoints: readonly Endpoint[]): Verdict {
    const family = this.#family;
    const table = buildSlotTable(endpoints, this.#settings.hashSeed);
    for (const [slot, endpoint] of table.entries()) {
      this.#fragment.element(
        setNames.slots(family),
        [...this.#key, slot],
        [endpoint.address, endpoint.port],
      );
    }
    for (const endpoint of new Set(table)) this.#wayBack(endpoint);
    return { kind: 'goto', chain: slotChain(family, this.#hashBy(), table.length) };
  }

  #wayBack(endpoint: Endpoint): void {
    const family = this.#family;
    const { address, protocol, port } = this.#service;
    if (this.#settings.resumeConnections) {
      this.#fragment.element(
        setNames.reverse(family),
        [endpoint.address, protocolNumbers[protocol], endpoint.port],
        [address, port],
      );
    }
    if (this.#settings.hairpin) {
      this.#fragment.element(setNames.hairpin(family), [endpoint.address, endpoint.address]);
    }
  }

  /** A set for each endpoint holds the clients it has served lately; they are asked first. */
  #remembering(endpoints: readonly Endpoint[], seconds: number): Verdict {
    const family = this.#family;
    const table = buildSlotTable(endpoints, this.#settings.hashSeed);
    const chains = new Map<Endpoint, string>();
    const rules: Rule[] = [];
    for (const endpoint of new Set(table)) {
      const chain = this.#endpointChain(endpoint, seconds);
      chains.set(endpoint, chain.name);
      rules.push({
        statements: [isFamily(family), isIn([source(family)], chain.clients), goto(chain.name)],
      });
      this.#wayBack(endpoint);
    }
    for (const [slot, endpoint] of table.entries()) {
      const chain = chains.get(endpoint) ?? '';
      this.#fragment.element(setNames.turns(family), [...this.#key, slot], { kind: 'goto', chain });
    }
    const turn = { kind: 'random', modulus: table.length } as const;
    rules.push({
      statements: [
        isFamily(family),
        { kind: 'dispatch', key: [...target(family), turn], map: setNames.turns(family) },
      ],
    });
    const name = derivedName('sticky', serviceKey(this.#service));
    this.#fragment.chains.push({ name, rules });
    return { kind: 'goto', chain: name };
  }

  #endpointChain(endpoint: Endpoint, seconds: number): { name: string; clients: string } {
    const family = this.#family;
    const { address, port } = endpoint;
    const identity = [serviceKey(this.#service), address, String(port)];
    const clients = derivedName('clients', ...identity);
    const name = derivedName('endpoint', ...identity);
    this.#fragment.sets.push({ name: clients, key: [addressType(family)], dynamic: true });
    const number = protocolNumbers[this.#service.protocol];
    this.#fragment.chains.push({
      name,
      rules: [
        {
          statements: [
            isFamily(family),
            { kind: 'remember', key: [source(family)], set: clients, timeoutSeconds: seconds },
          ],
        },
        {
          statements: [
            isFamily(family),
            equals(protocol, number),
            { kind: 'dnat', family, to: { kind: 'endpoint', address, port } },
          ],
        },
      ],
    });
    return { name, clients };
  }

  #hold(group: number): Verdict {
    const name = holdChain(group);
    this.#fragment.chains.push({
      name,
      rules: [{ statements: [{ kind: 'log', group }] }, { statements: [drop] }],
    });
    return { kind: 'goto', chain: name };
  }

  /** A small chain of the service's own turns away who is not in its source ranges. */
  #guarded(verdict: Verdict | undefined): Verdict | undefined {
    const { sourceRanges } = this.#service;
    if (sourceRanges === undefined) return verdict;
    const family = this.#family;
    const name = derivedName('admit', serviceKey(this.#service));
    const ranges = derivedName('ranges', serviceKey(this.#service));
    this.#fragment.sets.push({ name: ranges, key: [addressType(family)], interval: true });
    for (const range of mergedRanges(sourceRanges, family)) {
      this.#fragment.range(ranges, [range.first], [range.last]);
    }
    const turnAway: Rule = {
      statements: [isFamily(family), isNotIn([source(family)], ranges), drop],
    };
    const admit: Rule[] =
      verdict === undefined ? [] : [{ statements: [{ kind: 'verdict', verdict }] }];
    this.#fragment.chains.push({ name, rules: [turnAway, ...admit] });
    return { kind: 'goto', chain: name };
  }

  #masquerade(): void {
    const choice = this.#service.masquerade ?? 'needed';
    if (choice === 'needed') return;
    const verdict: Verdict =
      choice === 'always'
        ? { kind: 'goto', chain: chainNames.masqueradeAlways }
        : { kind: 'return' };
    this.#fragment.element(setNames.masquerade(this.#family), this.#key, verdict);
  }
}
