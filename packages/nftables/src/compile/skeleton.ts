import type { Family } from '@causeway/base/address/address';
import { prefixFamily, type Prefix } from '@causeway/base/address/prefix';
import type { HashOperand, Operand, Rule, Statement } from '../model/expression.ts';
import { FragmentBuilder, type Fragment } from './fragment.ts';
import {
  chainNames,
  firstSlot,
  portProtocols,
  setNames,
  slotChain,
  type HashBy,
  type Side,
} from '../model/names.ts';
import {
  accept,
  destination,
  drop,
  equals,
  families,
  goto,
  isDestinationRewritten,
  isFamily,
  isFromMachine,
  isIn,
  isInvalid,
  isNotPlainSyn,
  isUnderWay,
  isUntracked,
  jump,
  originalTarget,
  protocol,
  protocolNumbers,
  source,
  sourcePort,
  target,
  verdict,
} from '../model/operands.ts';
import type { BaseHook, Chain, DataType, SetDefinition } from '../model/ruleset.ts';
import { pinRule, pinSet, reversePinRule, reversePinSet } from '../pins/pin-rules.ts';
import { tableSizes } from './slot-table.ts';
import { addressChains } from './address-chains.ts';
import { addClosingConnections, dropUnplaced } from './closing-connections.ts';
import { mergedRanges } from './address-ranges.ts';
import { overtakenRule } from './overtaken-packets.ts';
import { firstRefusal } from './first-refusal.ts';
import type { Insiders, LayoutSettings } from './virtual-service.ts';
import { addVrrpFilter, vrrpRules } from './vrrp-filter.ts';

/**
 * The chains, rules and sets that exist independently of services. The elements of these sets hold what
 * differs between services. docs/nftables.md has a diagram.
 */
export function skeleton(settings: LayoutSettings): Fragment {
  const fragment = new FragmentBuilder();
  fragment.sets.push({ name: portProtocols, key: ['inet_proto'] });
  for (const number of Object.values(protocolNumbers)) fragment.element(portProtocols, [number]);
  for (const family of families) {
    fragment.sets.push(...familySets(family));
    if (settings.resumeConnections) fragment.sets.push(pinSet(family), reversePinSet(family));
    fragment.chains.push(...slotChains(family, settings.hashSeed, 'all'));
    if (settings.dropsUnallocated === true) {
      fragment.sets.push(networkSet(setNames.virtualNetworks(family), family));
    }
    if (settings.insiders === undefined) continue;
    fragment.sets.push(networkSet(setNames.insiders(family), family));
    fragment.chains.push(...slotChains(family, settings.hashSeed, 'inside'));
  }
  fragment.chains.push(
    ...natChains(settings),
    ...filterChains(settings),
    ...addressChains(settings),
  );
  if (settings.retriesRefused === true) {
    fragment.sets.push(...firstRefusal.sets);
    fragment.chains.push(firstRefusal.chain);
  }
  addNetworks(fragment, setNames.localSources, settings.localSources);
  addNetworks(fragment, setNames.insiders, settings.insiders?.networks ?? []);
  addClosingConnections(fragment, settings);
  addVrrpFilter(fragment, settings.vrrp);
  return fragment;
}

/** Networks in which every address belongs to a service or is unused. */
export function virtualNetworksFragment(networks: readonly Prefix[]): Fragment {
  const fragment = new FragmentBuilder();
  addNetworks(fragment, setNames.virtualNetworks, networks);
  return fragment;
}

function networkSet(name: string, family: Family): SetDefinition {
  return { name, key: [addressType(family)], interval: true };
}

export function addressType(family: Family): DataType {
  return family === 4 ? 'ipv4_addr' : 'ipv6_addr';
}

/** Input of the hash: the client's address alone, or each connection. */
export function hashed(family: Family, by: HashBy): Operand[] {
  return by === 'client' ? [source(family)] : [source(family), sourcePort];
}

const rule = (...statements: Statement[]): Rule => ({ statements });

/** nft requires a match on protocols with ports before a port is rewritten. */
const hasPorts: Statement = isIn([protocol], portProtocols);

function familySets(family: Family): SetDefinition[] {
  const address = addressType(family);
  const key: DataType[] = [address, 'inet_proto', 'inet_service'];
  const backend: DataType[] = [address, 'inet_service'];
  return [
    { name: setNames.services(family), key, value: 'verdict' },
    { name: setNames.counts(family), key, counter: true },
    { name: setNames.slots(family), key: [...key, 'slot'], value: backend },
    { name: setNames.stickySlots(family), key: [...key, 'slot'], value: 'verdict' },
    { name: setNames.reverse(family), key, value: backend },
    {
      name: setNames.reverseNodePorts(family),
      key: ['inet_proto', 'inet_service'],
      value: backend,
    },
    { name: setNames.nodes(family), key: ['slot'], value: [address] },
    { name: setNames.nodeAddresses(family), key: [address] },
    { name: setNames.nodePorts(family), key, value: ['inet_service'] },
    { name: setNames.nodeless(family), key: ['inet_proto'] },
    { name: setNames.addresses(family), key: [address] },
    { name: setNames.routed(family), key },
    { name: setNames.refused(family), key },
    { name: setNames.unchanged(family), key },
    { name: setNames.masquerade(family), key, value: 'verdict' },
    { name: setNames.localSources(family), key: [address], interval: true },
    { name: setNames.hairpin(family), key: [address, address] },
    { name: setNames.pods(family), key: [address], value: 'verdict' },
  ];
}

/** One chain per table size: the lookup contains the hash, so no packet mark is needed. */
function slotChains(family: Family, seed: number, side: Side): Chain[] {
  const offset = firstSlot[side];
  const chains: Chain[] = [];
  for (const by of ['connection', 'client'] as const) {
    for (const modulus of tableSizes) {
      const hash: HashOperand = { kind: 'hash', of: hashed(family, by), modulus, seed };
      const slot = offset === 0 ? hash : { ...hash, offset };
      const dnat: Statement = {
        kind: 'dnat',
        family,
        to: {
          kind: 'backend-map',
          map: setNames.slots(family),
          key: [...target(family), slot],
        },
      };
      chains.push({
        name: slotChain(family, by, modulus, side),
        rules: [rule(isFamily(family), hasPorts, dnat)],
      });
    }
  }
  return chains;
}

const nat = (hook: BaseHook['hook'], priority: number): BaseHook => ({
  type: 'nat',
  hook,
  priority,
});
const filter = (hook: BaseHook['hook']): BaseHook => ({ type: 'filter', hook, priority: 0 });
const destinationPriority = -100;
const sourcePriority = 100;

function natChains(settings: LayoutSettings): Chain[] {
  const dispatch = families.flatMap((family) => [
    rule(isFamily(family), isIn(target(family), setNames.counts(family))),
    ...(settings.resumeConnections ? [pinRule(family)] : []),
    rule(isFamily(family), {
      kind: 'dispatch',
      key: target(family),
      map: setNames.services(family),
    }),
  ]);
  const toServices = [rule(jump(chainNames.services))];
  return [
    { name: chainNames.services, rules: dispatch },
    {
      name: chainNames.natPrerouting,
      base: nat('prerouting', destinationPriority),
      rules: toServices,
    },
    { name: chainNames.natOutput, base: nat('output', destinationPriority), rules: toServices },
    {
      name: chainNames.natPostrouting,
      base: nat('postrouting', sourcePriority),
      rules: [
        ...(settings.resumeConnections ? families.flatMap(resumeRules) : []),
        rule(isDestinationRewritten, jump(chainNames.rewriteSource)),
      ],
    },
    { name: chainNames.rewriteSource, rules: families.flatMap(sourceRules(settings)) },
    { name: chainNames.masqueradeAlways, rules: [rule({ kind: 'masquerade' })] },
    ...(settings.insiders === undefined ? [] : insiderChains(settings, settings.insiders)),
  ];
}

/** Conditions for a packet from inside the cluster; one of them is enough. */
export function insideConditions({ interfaces }: Insiders, family: Family): Statement[] {
  return [isIn([source(family)], setNames.insiders(family)), ...interfaces.map(comesThrough)];
}

/** An interface by its name, or by a prefix of it. */
export function comesThrough(name: string): Statement {
  const isPrefix = name.endsWith('*');
  return { kind: 'input-interface', name: isPrefix ? name.slice(0, -1) : name, isPrefix };
}

/**
 * For services that masquerade depending on the client. A pod that connects to itself is always rewritten.
 */
function insiderChains(settings: LayoutSettings, insiders: Insiders): Chain[] {
  const hairpin = settings.hairpin ? families.map(hairpinRule) : [];
  const leave = families.flatMap((family) =>
    insideConditions(insiders, family).map((condition) =>
      rule(isFamily(family), condition, verdict({ kind: 'return' })),
    ),
  );
  // Without settings for insiders, no client counts as outside.
  const others = families
    .filter((family) => knowsInsiders(insiders, family))
    .map((family) => rule(isFamily(family), { kind: 'masquerade' }));
  return [
    {
      name: chainNames.masqueradeOutsiders,
      rules: [...hairpin, ...leave, ...others],
    },
    {
      name: chainNames.masqueradeMachine,
      rules: [...hairpin, rule(isFromMachine, { kind: 'masquerade' })],
    },
  ];
}

function knowsInsiders({ networks, interfaces }: Insiders, family: Family): boolean {
  return interfaces.length > 0 || networks.some((network) => prefixFamily(network) === family);
}

function hairpinRule(family: Family): Rule {
  return rule(
    isFamily(family),
    isIn([source(family), destination(family)], setNames.hairpin(family)),
    { kind: 'masquerade' },
  );
}

/**
 * A server's packet of a connection that this machine has never seen: its virtual address is restored. Never
 * for a plain SYN, which opens a pod's own connection.
 */
function resumeRules(family: Family): Rule[] {
  const from = [source(family), protocol, sourcePort];
  const midStream = [equals(protocol, protocolNumbers.TCP), isNotPlainSyn, isFamily(family)];
  const snat = (map: string, key: Operand[]): Statement => ({
    kind: 'snat',
    family,
    to: { kind: 'backend-map', map, key },
  });
  return [
    reversePinRule(family),
    rule(...midStream, snat(setNames.reverse(family), from)),
    rule(
      ...midStream,
      isIn([source(family)], setNames.nodeAddresses(family)),
      snat(setNames.reverseNodePorts(family), [protocol, sourcePort]),
    ),
  ];
}

/** First the services with `always` or `never`, then the clients that would be answered directly. */
function sourceRules(settings: LayoutSettings): (family: Family) => Rule[] {
  return (family) => [
    ...Object.values(protocolNumbers).map((number) =>
      rule(equals(protocol, number), isFamily(family), {
        kind: 'dispatch',
        key: originalTarget(family),
        map: setNames.masquerade(family),
      }),
    ),
    rule(
      isFamily(family),
      isIn([{ kind: 'original-destination', family }], setNames.addresses(family)),
      isIn([source(family)], setNames.localSources(family)),
      { kind: 'masquerade' },
    ),
    ...(settings.hairpin ? [hairpinRule(family)] : []),
  ];
}

/** All packets of a connection except the first: they match this rule only. */
const underWay = rule(isUnderWay, accept);

/** After the rules for addresses of services: this address is unused. */
function unallocatedRule(family: Family): Rule {
  return rule(
    isFamily(family),
    isIn([destination(family)], setNames.virtualNetworks(family)),
    drop,
  );
}

/** Packets to a service's address that were not forwarded. */
function virtualRules(family: Family): Rule[] {
  return [
    overtakenRule(family),
    rule(
      isFamily(family),
      isIn([destination(family)], setNames.addresses(family)),
      goto(chainNames.virtualAddress),
    ),
    rule(isFamily(family), isIn(target(family), setNames.refused(family)), goto(chainNames.refuse)),
  ];
}

function filterChains(settings: LayoutSettings): Chain[] {
  const virtual = families.flatMap(virtualRules);
  // A server's packet without rewriting would reach the client from an unknown address, and the client would
  // reset the connection.
  const unplaced =
    settings.dropsUnplaced === true
      ? [rule(isInvalid, dropUnplaced(settings))]
      : families.map((family) =>
          rule(
            isInvalid,
            isFamily(family),
            isIn([source(family)], setNames.localSources(family)),
            dropUnplaced(settings),
          ),
        );
  const pods = families.map((family) =>
    rule(isDestinationRewritten, isFamily(family), {
      kind: 'dispatch',
      key: [destination(family)],
      map: setNames.pods(family),
    }),
  );
  const unallocated = settings.dropsUnallocated === true ? families.map(unallocatedRule) : [];
  // A copy on its way to a node. The routed tables change after this one, so the sets of this table can't
  // identify the nodes.
  const copies = families.map((family) =>
    rule(
      isUntracked,
      isFamily(family),
      isIn([destination(family)], setNames.addresses(family)),
      accept,
    ),
  );
  const refusals = settings.retriesRefused === true ? [firstRefusal.rule] : [];
  return [
    {
      name: chainNames.filterInput,
      base: filter('input'),
      rules: [...refusals, ...vrrpRules(settings.vrrp), ...virtual],
    },
    {
      name: chainNames.filterForward,
      base: filter('forward'),
      rules: [...refusals, underWay, ...unplaced, ...pods, ...virtual, ...unallocated],
    },
    {
      name: chainNames.filterOutput,
      base: filter('output'),
      rules: [underWay, ...copies, ...virtual, ...unallocated],
    },
  ];
}

function addNetworks(
  fragment: FragmentBuilder,
  set: (family: Family) => string,
  networks: readonly Prefix[],
): void {
  for (const family of families) {
    for (const range of mergedRanges(networks, family)) {
      fragment.range(set(family), [range.first], [range.last]);
    }
  }
}
