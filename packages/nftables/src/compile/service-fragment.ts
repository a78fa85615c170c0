import { familyOf, type Family } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Port } from '@causeway/base/address/port';
import type { Operand, Rule, Statement, Verdict } from '../model/expression.ts';
import { FragmentBuilder, type Fragment } from './fragment.ts';
import { guardListener, dropToListeners } from './listener-guard.ts';
import {
  chainNames,
  derivedName,
  firstSlot,
  hereChain,
  holdChain,
  insideLogGroup,
  nodesChain,
  setNames,
  slotChain,
  type HashBy,
  type Side,
} from '../model/names.ts';
import {
  drop,
  equals,
  goto,
  isFamily,
  isFromMachine,
  isIn,
  isNotIn,
  protocol,
  protocolNumbers,
  source,
  target,
  verdict as continueWith,
} from '../model/operands.ts';
import { rangeSet } from './range-set.ts';
import { valueId, type Field } from '../model/ruleset.ts';
import { addressType, comesThrough, insideConditions } from './skeleton.ts';
import { buildSlotTable } from './slot-table.ts';
import {
  serviceBackends,
  serviceKey,
  type Backend,
  type LayoutSettings,
  type Masquerade,
  type VirtualService,
} from './virtual-service.ts';

/** The contribution of one service to the ruleset. Depends only on the service and the settings. */
export function serviceFragment(service: VirtualService, settings: LayoutSettings): Fragment {
  return new ServiceCompiler(service, settings).compile();
}

const masqueradeChains: Readonly<Record<Exclude<Masquerade, 'never' | 'needed'>, string>> = {
  always: chainNames.masqueradeAlways,
  outsiders: chainNames.masqueradeOutsiders,
  machine: chainNames.masqueradeMachine,
};

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
    this.#checkInsiders();
    this.#fragment.element(setNames.counts(family), this.#key);
    if (this.#service.exclusiveAddress !== false) {
      this.#fragment.element(setNames.addresses(family), [this.#service.address]);
    }
    const verdict = this.#guarded(this.#dispatch());
    if (verdict !== undefined) {
      this.#fragment.element(setNames.services(family), this.#key, verdict);
    }
    for (const backend of this.#drainingBackends()) this.#wayBack(backend);
    this.#masquerade();
    return this.#fragment;
  }

  /** Those that no slot has already: an element occurs once in a fragment. */
  #drainingBackends(): Backend[] {
    const inSlots = new Set(serviceBackends(this.#service).map(backendId));
    const draining = new Map((this.#service.draining ?? []).map((each) => [backendId(each), each]));
    return [...draining].filter(([id]) => !inSlots.has(id)).map(([, backend]) => backend);
  }

  #checkInsiders(): void {
    const { insideBackends, masquerade } = this.#service;
    const distinguishes =
      insideBackends !== undefined || masquerade === 'outsiders' || masquerade === 'machine';
    if (!distinguishes || this.#settings.insiders !== undefined) return;
    throw new CausewayError(
      'invalid',
      `the service ${serviceKey(this.#service)} distinguishes insiders, but the settings define none`,
    );
  }

  /** Destination of an admitted connection; undefined if it must fall through and be rejected. */
  #dispatch(): Verdict | undefined {
    const { dispatch } = this.#service;
    switch (dispatch.kind) {
      case 'slots':
        return this.#bySide(dispatch.backends, this.#service.insideBackends);
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
        this.#fragment.element(setNames.unchanged(this.#family), this.#key);
        return undefined;
      case 'nodes-unchanged':
        // A packet arrives here in spite of nodes only during a change: this table changes before the routed
        // ones.
        if (dispatch.nodes?.length === 0) {
          this.#fragment.element(setNames.refused(this.#family), this.#key);
        }
        return undefined;
      case 'here':
        return this.#here(dispatch.port);
      case 'hold':
        return this.#hold(dispatch.logGroup);
      default:
        return dispatch satisfies never;
    }
  }

  /**
   * Clients from inside may have their own backends. Services with the same two verdicts share the chain.
   */
  #bySide(
    forAll: readonly Backend[],
    forInside: readonly Backend[] | undefined,
  ): Verdict | undefined {
    const outside = forAll.length === 0 ? this.#withoutBackends() : this.#toBackends(forAll, 'all');
    const { insiders } = this.#settings;
    if (forInside === undefined || insiders === undefined) return outside;
    const inside = this.#toBackends(forInside, 'inside');
    const family = this.#family;
    const rules = [isFromMachine, ...insideConditions(insiders, family)].map(
      (condition): Rule => ({ statements: [isFamily(family), condition, continueWith(inside)] }),
    );
    if (outside !== undefined) rules.push({ statements: [continueWith(outside)] });
    const name = derivedName('split', String(family), valueId(inside), valueId(outside));
    this.#fragment.chains.push({ name, rules });
    return { kind: 'goto', chain: name };
  }

  #toBackends(backends: readonly Backend[], side: Side): Verdict {
    return this.#service.affinity?.kind === 'client-timeout'
      ? this.#stickyDispatch(backends, side)
      : this.#slots(backends, side);
  }

  #hashBy(): HashBy {
    return (this.#service.affinity ?? { kind: 'none' }).kind === 'none' ? 'connection' : 'client';
  }

  #withoutBackends(): Verdict | undefined {
    if (this.#service.withoutBackends === 'drop') return { kind: 'drop' };
    this.#fragment.element(setNames.refused(this.#family), this.#key);
    return undefined;
  }

  #slots(backends: readonly Backend[], side: Side): Verdict {
    const family = this.#family;
    const table = buildSlotTable(backends, this.#settings.hashSeed);
    for (const [slot, backend] of table.entries()) {
      this.#fragment.element(
        setNames.slots(family),
        [...this.#key, firstSlot[side] + slot],
        [backend.address, backend.port],
      );
    }
    for (const backend of new Set(table)) this.#wayBack(backend);
    return { kind: 'goto', chain: slotChain(family, this.#hashBy(), table.length, side) };
  }

  #wayBack(backend: Backend): void {
    const family = this.#family;
    const { address, protocol, port } = this.#service;
    if (backend.address === address && backend.port === port) {
      this.#fragment.element(setNames.unchanged(family), this.#key);
    }
    if (this.#settings.resumeConnections) {
      this.#fragment.element(
        setNames.reverse(family),
        [backend.address, protocolNumbers[protocol], backend.port],
        [address, port],
      );
    }
    if (this.#settings.hairpin) {
      this.#fragment.element(setNames.hairpin(family), [backend.address, backend.address]);
    }
  }

  /** A set per backend holds its recent clients; these sets are checked first. */
  #stickyDispatch(backends: readonly Backend[], side: Side): Verdict {
    const family = this.#family;
    const offset = firstSlot[side];
    const table = buildSlotTable(backends, this.#settings.hashSeed);
    const chains = new Map<Backend, string>();
    const rules: Rule[] = [];
    for (const backend of new Set(table)) {
      const chain = this.#backendChain(backend);
      chains.set(backend, chain.name);
      rules.push({
        statements: [isFamily(family), isIn([source(family)], chain.clients), goto(chain.name)],
      });
      this.#wayBack(backend);
    }
    for (const [slot, backend] of table.entries()) {
      const chain = chains.get(backend) ?? '';
      this.#fragment.element(setNames.stickySlots(family), [...this.#key, offset + slot], {
        kind: 'goto',
        chain,
      });
    }
    const randomSlot: Operand = {
      kind: 'random',
      modulus: table.length,
      ...(offset === 0 ? {} : { offset }),
    };
    rules.push({
      statements: [
        isFamily(family),
        {
          kind: 'dispatch',
          key: [...target(family), randomSlot],
          map: setNames.stickySlots(family),
        },
      ],
    });
    const name = derivedName('sticky', serviceKey(this.#service), side);
    this.#fragment.chains.push({ name, rules });
    return { kind: 'goto', chain: name };
  }

  #backendChain(backend: Backend): { name: string; clients: string } {
    const family = this.#family;
    const { address, port } = backend;
    const { affinity } = this.#service;
    const { seconds = 0, group = serviceKey(this.#service) } =
      affinity?.kind === 'client-timeout' ? affinity : {};
    const identity = [group, this.#service.protocol, address, String(port)];
    const clients = derivedName('clients', ...identity);
    const name = derivedName('backend', ...identity);
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
            { kind: 'dnat', family, to: { kind: 'backend', address, port } },
          ],
        },
      ],
    });
    return { name, clients };
  }

  #here(port: Port): Verdict {
    const name = hereChain(port);
    const redirect = { kind: 'redirect', port } as const;
    this.#fragment.chains.push({
      name,
      rules: Object.values(protocolNumbers).map((number) => ({
        statements: [equals(protocol, number), redirect],
      })),
    });
    guardListener(this.#fragment, this.#service, port);
    return { kind: 'goto', chain: name };
  }

  #hold(group: number): Verdict {
    const name = holdChain(group);
    const log = (to: number): Statement => ({ kind: 'log', group: to });
    // A client that is inside by its interface must be inside when the packet is replayed, which uses another
    // interface.
    const fromInside = (this.#settings.insiders?.interfaces ?? []).flatMap((link) => [
      { statements: [comesThrough(link), log(insideLogGroup(group))] },
      { statements: [comesThrough(link), drop] },
    ]);
    this.#fragment.chains.push({
      name,
      rules: [...fromInside, { statements: [log(group)] }, { statements: [drop] }],
    });
    dropToListeners(this.#fragment, this.#service);
    return { kind: 'goto', chain: name };
  }

  /**
   * A small chain drops packets of clients outside the source ranges. Services with the same ranges and the
   * same verdict share it.
   */
  #guarded(verdict: Verdict | undefined): Verdict | undefined {
    const { sourceRanges } = this.#service;
    if (sourceRanges === undefined) return verdict;
    const family = this.#family;
    const set = rangeSet(sourceRanges, family);
    const ranges = set.definition.name;
    const name = derivedName('admit', ranges, valueId(verdict));
    this.#fragment.filledSets.push(set);
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
      choice === 'never' ? { kind: 'return' } : { kind: 'goto', chain: masqueradeChains[choice] };
    this.#fragment.element(setNames.masquerade(this.#family), this.#key, verdict);
  }
}

function backendId({ address, port }: Backend): string {
  return `${address} ${port}`;
}
