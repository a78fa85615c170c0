import { familyOf, parseAddress, type Address } from '@causeway/base/address/address';
import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Prefix } from '@causeway/base/address/prefix';
import { parsePort, protocols, type Port, type Protocol } from '@causeway/base/address/port';
import { checkService } from './check-service.ts';
import { AddressOwnerChange, AddressOwners } from './address-owners.ts';
import type { Fragment } from './fragment.ts';
import type {
  AmbiguousBackend,
  LayoutChange,
  LayoutPlan,
  RemovedBackend,
} from './layout-change.ts';
import { setNames } from '../model/names.ts';
import { nodesFragment } from './nodes-fragment.ts';
import { families, protocolNumbers } from '../model/operands.ts';
import { podFragment, policyFragment, policyKey } from './policy-fragment.ts';
import { emptyRuleset, type Field, type Ruleset } from '../model/ruleset.ts';
import { applyOperations } from '../plan/apply-operations.ts';
import { serviceFragment } from './service-fragment.ts';
import { skeleton, virtualNetworksFragment } from './skeleton.ts';
import type { Operation } from '../model/transaction.ts';
import {
  serviceBackends,
  serviceKey,
  type IngressPolicy,
  type LayoutInput,
  type LayoutSettings,
  type PodPolicies,
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
  readonly #claims = new AddressOwners();
  #services = new Map<ServiceKey, VirtualService>();
  #nodes: readonly Address[] = [];
  #drainingNodes: readonly Address[] = [];
  #policies = new Map<string, IngressPolicy>();
  #pods = new Map<Address, PodPolicies>();
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
      policies: [...this.#policies.values()],
      pods: [...this.#pods.values()],
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
      for (const elements of this.#claims.ambiguous(setNames.reverse(family))) {
        const [address, number, port] = elements[0]?.key ?? [];
        const protocol = protocolNamed(number);
        if (protocol === undefined) continue;
        found.push({
          address: parseAddress(String(address)),
          protocol,
          port: parsePort(Number(port)),
          services: elements.map(({ value }) => {
            const [virtualAddress, virtualPort] =
              value === undefined || 'kind' in value ? [] : value;
            return serviceKey({
              address: parseAddress(String(virtualAddress)),
              protocol,
              port: parsePort(Number(virtualPort)),
            });
          }),
        });
      }
    }
    return found;
  }

  #planWith(change: LayoutChange, extra: readonly FragmentChange[]): LayoutPlan {
    const version = this.#version;
    const services = this.#serviceChanges(change);
    const policies =
      change.policies === undefined ? this.#policies : keyed(change.policies, policyKey);
    const pods = change.pods === undefined ? this.#pods : keyed(change.pods, (pod) => pod.address);
    const claimChange = new AddressOwnerChange(this.#claims);
    const fragments = [
      ...extra,
      ...this.#nodeChanges(change, extra.length > 0),
      ...this.#policyChanges(policies, pods),
      ...this.#networkChanges(change.virtualNetworks),
    ];
    for (const { before, after } of fragments) claimChange.exchange(before, after);
    for (const { before, after } of services.values()) {
      claimChange.exchange(
        before === undefined ? undefined : serviceFragment(before, this.settings),
        after === undefined ? undefined : serviceFragment(after, this.settings),
      );
    }
    const accept = () => {
      if (version !== this.#version) {
        throw new CausewayError('internal', 'a plan was accepted after the layout had changed');
      }
      this.#version += 1;
      claimChange.apply();
      for (const [key, { after }] of services) {
        if (after === undefined) this.#services.delete(key);
        else this.#services.set(key, after);
      }
      this.#nodes = change.nodes ?? this.#nodes;
      this.#drainingNodes = change.drainingNodes ?? this.#drainingNodes;
      this.#virtualNetworks = change.virtualNetworks ?? this.#virtualNetworks;
      this.#policies = policies;
      this.#pods = pods;
    };
    return {
      transaction: { table: this.settings.table, operations: claimChange.operations() },
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

  #policyChanges(
    policies: Map<string, IngressPolicy>,
    pods: Map<Address, PodPolicies>,
  ): FragmentChange[] {
    if (policies === this.#policies && pods === this.#pods) return [];
    const known = (name: string) => this.#policies.has(name);
    const willBeKnown = (name: string) => policies.has(name);
    return [
      ...paired(this.#policies, policies, policyFragment, policyFragment),
      ...paired(
        this.#pods,
        pods,
        (pod) => podFragment(pod, known),
        (pod) => podFragment(pod, willBeKnown),
      ),
    ];
  }
}

/** Pairs the old and the new contribution of each source. */
function paired<K, V>(
  before: ReadonlyMap<K, V>,
  after: ReadonlyMap<K, V>,
  compileBefore: (value: V) => Fragment,
  compileAfter: (value: V) => Fragment,
): FragmentChange[] {
  const changes: FragmentChange[] = [];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const old = before.get(key);
    const now = after.get(key);
    changes.push({
      before: old === undefined ? undefined : compileBefore(old),
      after: now === undefined ? undefined : compileAfter(now),
    });
  }
  return changes;
}

interface FragmentChange {
  readonly before: Fragment | undefined;
  readonly after: Fragment | undefined;
}

interface ServiceChange {
  readonly before: VirtualService | undefined;
  readonly after: VirtualService | undefined;
}

function keyed<K, V>(items: readonly V[], keyOf: (item: V) => K): Map<K, V> {
  return new Map(items.map((item) => [keyOf(item), item]));
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
): Iterable<RemovedBackend> {
  for (const { before, after } of changes) {
    if (before === undefined) continue;
    const inSlots = keysOf(ledTo(after, nodes));
    const draining = keysOf(after?.draining ?? []);
    // A removed service is removed on its nodes too: they refuse TCP connections themselves. Clients of other
    // protocols would not notice.
    const isHeard = after === undefined && before.protocol === 'TCP';
    const left = isHeard ? serviceBackends(before) : ledTo(before, nodes);
    const continues = after !== undefined && continuesOn(before, after);
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

function keysOf(backends: readonly Destination[]): Set<string> {
  return new Set(backends.map(({ address, port }) => `${address} ${port}`));
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
