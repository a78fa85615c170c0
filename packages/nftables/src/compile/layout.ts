import { familyOf, parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Prefix } from '@causeway/base/address/prefix';
import { parsePort, protocols, type Port, type Protocol } from '@causeway/base/address/port';
import { checkService } from './check-service.ts';
import { AddressOwnerChange, AddressOwners } from './address-owners.ts';
import type {
  AmbiguousBackend,
  LayoutChange,
  LayoutPlan,
  Removed,
  RemovedBackend,
} from './layout-change.ts';
import { setNames } from '../model/names.ts';
import { nodesFragment } from './nodes-fragment.ts';
import { families, protocolNumbers } from '../model/operands.ts';
import { PolicyLayout, type FragmentChange } from './policy-layout.ts';
import {
  elementId,
  emptyRuleset,
  type Element,
  type Field,
  type Ruleset,
} from '../model/ruleset.ts';
import { applyOperations } from '../plan/apply-operations.ts';
import { serviceFragment } from './service-fragment.ts';
import { skeleton, virtualNetworksFragment } from './skeleton.ts';
import type { Operation } from '../model/transaction.ts';
import {
  serviceBackends,
  serviceKey,
  type Backend,
  type LayoutInput,
  type LayoutSettings,
  type ServiceKey,
  type VirtualService,
} from './virtual-service.ts';

/** The ruleset for an input: a pure function, the same on every machine. */
export function buildRuleset(input: LayoutInput): Ruleset {
  return applyOperations(
    emptyRuleset(input.settings.table),
    Layout.plan(input).plan.transaction.operations,
  );
}

/**
 * The desired ruleset, in a form in which the cost of a change depends on the change and not on the ruleset.
 * Planning changes nothing; accept() does, after the kernel has applied the plan. The result equals
 * buildRuleset on the sum of all changes, in any order.
 */
export class Layout {
  readonly settings: LayoutSettings;
  readonly #owners = new AddressOwners();
  #services = new Map<ServiceKey, VirtualService>();
  #nodes: readonly Address[] = [];
  #drainingNodes: readonly Address[] = [];
  readonly #policies = new PolicyLayout();
  #virtualNetworks: readonly Prefix[] = [];
  #version = 0;

  private constructor(settings: LayoutSettings) {
    this.settings = settings;
  }

  /** An empty layout, and the plan that creates the table with the whole input. */
  static plan(input: LayoutInput): { layout: Layout; plan: LayoutPlan } {
    const { settings, services, ...rest } = input;
    const layout = new Layout(settings);
    const plan = layout.#planWith({ set: services, nodes: [], ...rest }, [
      { before: undefined, after: skeleton(settings) },
    ]);
    const operations: Operation[] = [{ op: 'add-table' }, ...plan.transaction.operations];
    return { layout, plan: { ...plan, transaction: { table: settings.table, operations } } };
  }

  get services(): ReadonlyMap<ServiceKey, VirtualService> {
    return this.#services;
  }

  /** The nodes that get new connections of `node-ports` services. */
  get nodes(): readonly Address[] {
    return this.#nodes;
  }

  /** Throws `invalid` and changes nothing if a service is not supported. */
  plan(change: LayoutChange): LayoutPlan {
    return this.#planWith(change, []);
  }

  /** The whole accepted ruleset. The cost grows with the ruleset. */
  ruleset(): Ruleset {
    return buildRuleset({
      settings: this.settings,
      services: [...this.#services.values()],
      nodes: this.#nodes,
      drainingNodes: this.#drainingNodes,
      policies: this.#policies.policies,
      pods: this.#policies.pods,
      virtualNetworks: this.#virtualNetworks,
    });
  }

  /**
   * Backends that may lose connections in a failover to another gateway, and the services that cause
   * it.
   */
  ambiguousBackends(): AmbiguousBackend[] {
    const found: AmbiguousBackend[] = [];
    for (const family of families) {
      for (const elements of this.#owners.ambiguous(setNames.reverse(family))) {
        const [address, number, port] = elements[0]?.key ?? [];
        const protocol = protocolNamed(number);
        if (protocol === undefined) continue;
        found.push({
          address: parseAddress(String(address)),
          protocol,
          port: parsePort(Number(port)),
          services: elements.map((element) => serviceOf(element, protocol)),
        });
      }
    }
    return found;
  }

  /**
   * The services of a TCP backend, if there are two or more. Its packets then have more than one possible
   * virtual address.
   */
  servicesSharing({ address, port }: Backend): ServiceKey[] {
    const id = elementId({ key: [address, protocolNumbers.TCP, port] });
    return this.#owners
      .ambiguity(setNames.reverse(familyOf(address)), id)
      .map((element) => serviceOf(element, 'TCP'));
  }

  #planWith(change: LayoutChange, extra: readonly FragmentChange[]): LayoutPlan {
    const version = this.#version;
    const services = this.#serviceChanges(change);
    const policies = this.#policies.plan(change);
    const ownerChange = new AddressOwnerChange(this.#owners);
    const fragments = [
      ...extra,
      ...this.#nodeChanges(change, extra.length > 0),
      ...policies.fragments,
      ...this.#networkChanges(change.virtualNetworks),
    ];
    for (const { before, after } of fragments) ownerChange.exchange(before, after);
    for (const { before, after } of services.values()) {
      ownerChange.exchange(
        before === undefined ? undefined : serviceFragment(before, this.settings),
        after === undefined ? undefined : serviceFragment(after, this.settings),
      );
    }
    const accept = () => {
      if (version !== this.#version) {
        throw new CausewayError('internal', 'a plan was accepted after the layout had changed');
      }
      this.#version += 1;
      ownerChange.apply();
      for (const [key, { after }] of services) {
        if (after === undefined) this.#services.delete(key);
        else this.#services.set(key, after);
      }
      this.#nodes = change.nodes ?? this.#nodes;
      this.#drainingNodes = change.drainingNodes ?? this.#drainingNodes;
      this.#virtualNetworks = change.virtualNetworks ?? this.#virtualNetworks;
      policies.accept();
    };
    return {
      transaction: { table: this.settings.table, operations: ownerChange.operations() },
      removedBackends: [
        ...removedFromServices(services.values(), this.#nodes),
        ...removedNodes(this.#nodes, change.nodes),
      ],
      accept,
    };
  }

  #serviceChanges(change: LayoutChange): Map<ServiceKey, ServiceChange> {
    const changes = new Map<ServiceKey, ServiceChange>();
    for (const key of change.remove ?? []) {
      const before = this.#services.get(key);
      if (before !== undefined) changes.set(key, { before, after: undefined });
    }
    for (const service of change.set ?? []) {
      checkService(service);
      const key = serviceKey(service);
      if (changes.get(key)?.after !== undefined) {
        throw new CausewayError('invalid', `the service ${key} is described twice`);
      }
      changes.set(key, { before: this.#services.get(key), after: service });
    }
    return changes;
  }

  #nodeChanges(
    { nodes = this.#nodes, drainingNodes = this.#drainingNodes }: LayoutChange,
    isFirst: boolean,
  ): FragmentChange[] {
    const isSame = nodes === this.#nodes && drainingNodes === this.#drainingNodes;
    if (isSame && !isFirst) return [];
    const after = nodesFragment(nodes, drainingNodes, this.settings);
    const before = isFirst
      ? undefined
      : nodesFragment(this.#nodes, this.#drainingNodes, this.settings);
    return [{ before, after }];
  }

  #networkChanges(networks: readonly Prefix[] | undefined): FragmentChange[] {
    const isUsed = this.settings.dropsUnallocated === true;
    if (!isUsed || networks === undefined || networks === this.#virtualNetworks) return [];
    const before = virtualNetworksFragment(this.#virtualNetworks);
    return [{ before, after: virtualNetworksFragment(networks) }];
  }
}

interface ServiceChange {
  readonly before: VirtualService | undefined;
  readonly after: VirtualService | undefined;
}

function protocolNamed(number: Field | undefined): Protocol | undefined {
  return protocols.find((name) => protocolNumbers[name] === number);
}

/**
 * Backends that new connections of a service used and no longer use. Draining backends keep all their UDP
 * flows.
 */
function* removedFromServices(
  changes: Iterable<ServiceChange>,
  nodes: readonly Address[],
): Iterable<Removed> {
  for (const { before, after } of changes) {
    if (before === undefined) continue;
    if (after === undefined) {
      yield* removedService(before);
      continue;
    }
    const inSlots = keysOf(ledTo(after, nodes));
    const draining = keysOf(after.draining ?? []);
    const left = ledTo(before, nodes);
    const continues = continuesOn(before, after);
    const { protocol, address: virtualAddress, port: virtualPort } = before;
    for (const { address, port } of [...left, ...(before.draining ?? [])]) {
      const key = `${address} ${port}`;
      if (inSlots.has(key)) continue;
      const backend = { protocol, port, virtualAddress, virtualPort };
      if (continues || draining.has(key)) yield { address, keepsAnswered: true, backend };
      else yield { address, backend };
    }
  }
}

/**
 * Nodes remove the service too, and refuse its TCP connections to node ports themselves. Clients of other protocols
 * would not notice.
 */
function* removedService({ address, protocol, port, dispatch }: VirtualService): Iterable<Removed> {
  const isRefusedByNodes = dispatch.kind === 'node-ports' && protocol === 'TCP';
  const isRewritten = dispatch.kind === 'slots' || dispatch.kind === 'node-ports';
  if (isRewritten && !isRefusedByNodes) yield { service: { address, protocol, port } };
}

function keysOf(backends: readonly Destination[]): Set<string> {
  return new Set(backends.map(({ address, port }) => `${address} ${port}`));
}

/** The service in an element of a reverse map. */
function serviceOf({ value }: Element, protocol: Protocol): ServiceKey {
  const [address, port] = value === undefined || 'kind' in value ? [] : value;
  return serviceKey({
    address: parseAddress(String(address)),
    protocol,
    port: parsePort(Number(port)),
  });
}

/**
 * Whether the connections that a backend has answered continue after it left the slots. TCP and SCTP
 * connections do: the backend may still serve them, and otherwise they end by themselves. A UDP flow has no
 * end, and would stay on a removed pod's address for good. It continues only on a node, while the service
 * wakes up.
 */
function continuesOn(before: VirtualService, after: VirtualService): boolean {
  if (before.protocol !== 'UDP') return true;
  return before.dispatch.kind === 'node-ports' && after.dispatch.kind !== 'node-ports';
}

interface Destination {
  readonly address: Address;
  readonly port: Port;
}

function ledTo(
  service: VirtualService | undefined,
  nodes: readonly Address[],
): readonly Destination[] {
  if (service?.dispatch.kind !== 'node-ports') return serviceBackends(service);
  const { nodePort: port } = service.dispatch;
  const family = familyOf(service.address);
  return nodes
    .filter((address) => familyOf(address) === family)
    .map((address) => ({ address, port }));
}

function removedNodes(
  before: readonly Address[],
  after: readonly Address[] | undefined,
): RemovedBackend[] {
  if (after === undefined) return [];
  const kept = new Set(after);
  return before.filter((node) => !kept.has(node)).map((address) => ({ address }));
}
