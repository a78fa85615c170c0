import type { Address } from '@causeway/base/address/address';
import type { Prefix } from '@causeway/base/address/prefix';
import type { Log } from '@causeway/base/observability/log';
import type { Clock } from '@causeway/base/time/clock';
import { Store, type Change } from '@causeway/kubernetes/cache/store';
import type { Node, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf, nameFromKey } from '@causeway/kubernetes/objects/object';
import { hasIdledAt } from '../idling/annotations.ts';
import type { EgressPolicy } from './egress-firewall/egress-rules.ts';
import type { EgressRestrictions } from './egress-firewall/restrict-slices.ts';
import { serviceNameLabel } from './followed-objects.ts';
import { EndpointGuard } from '../services/endpoint-guard.ts';
import type { GuardReport } from '../services/guard-register.ts';
import { keepEndpoints } from '../services/kept-endpoints.ts';
import type { NodeContext } from './translate-service.ts';

export interface ProxyStoreOptions {
  /** The node's addresses and zone, as far as they are known. */
  readonly node: NodeContext;
  /** Whether this proxy serves the Service; it does by default. */
  readonly serves?: (service: Service) => boolean;
  /** The EgressNetworkPolicies of these namespaces have no effect. */
  readonly exemptNamespaces?: readonly string[];
  /** Takes the report of the guard against a mass loss of endpoints; undefined if it keeps nothing. */
  readonly reportGuard?: (report: GuardReport | undefined) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Everything in the store that determines the rules of one Service. */
export interface ServiceState {
  /** Undefined when the Service is deleted, or when another proxy serves it. */
  readonly service: Service | undefined;
  /** In the order of their names, so that the rules do not depend on the order of arrival. */
  readonly slices: readonly EndpointSlice[];
  readonly restrictions: EgressRestrictions;
  /** Time at which the idle annotation was removed; undefined while it is present, and if it never was. */
  readonly unmarkedAt: number | undefined;
}

/**
 * The only store of a node's proxy. Reflectors and other followers write to it, and the pipeline reads the
 * state of each changed Service. Each change is filed under the Services whose rules it can affect.
 */
export class ProxyStore {
  /** The Services that this proxy serves. */
  readonly services: Store<Service>;
  readonly slices: Store<EndpointSlice, 'service'>;
  /** The Node of this machine. */
  readonly nodes: Store<Node>;
  readonly policies: Store<EgressPolicy, 'namespace'>;
  readonly #clock: Clock;
  readonly #guard: EndpointGuard;
  readonly #unmarkedAt = new Map<string, number>();
  readonly #addresses = new Map<string, ReadonlySet<Address>>();
  readonly #listeners: (() => void)[] = [];
  #changed = new Set<string>();
  #node: NodeContext;
  #serviceNetworks: readonly Prefix[] = [];
  #clusterNetworks: readonly Prefix[] = [];

  constructor(options: ProxyStoreOptions) {
    const { node, serves, exemptNamespaces = [], clock, log } = options;
    const exempt = new Set(exemptNamespaces);
    this.#node = node;
    this.#clock = clock;
    this.#guard = new EndpointGuard((keys) => {
      options.reportGuard?.(this.#guard.report);
      this.#touch([...keys].filter((key) => this.services.get(key) !== undefined));
    });
    this.services = new Store({ log, ...(serves === undefined ? {} : { keeps: serves }) });
    this.slices = new Store({ log, indexes: { service: (slice) => asList(serviceOf(slice)) } });
    this.nodes = new Store({ log });
    this.policies = new Store({
      log,
      indexes: { namespace: (policy) => [namespaceOf(policy)] },
      keeps: (policy) => !exempt.has(namespaceOf(policy)),
    });
    this.services.onChange((change) => this.#serviceChanged(change));
    this.slices.onChange((change) => this.#sliceChanged(change));
    this.policies.onChange(({ key }) => this.#touchNamespaces([nameFromKey(key).namespace ?? '']));
  }

  /** The node's addresses and zone. */
  get node(): NodeContext {
    return this.#node;
  }

  set node(node: NodeContext) {
    this.#node = node;
    this.#touch(this.services.keys());
  }

  /** The networks of all cluster addresses. Packets to an address in them that no Service has are dropped. */
  get serviceNetworks(): readonly Prefix[] {
    return this.#serviceNetworks;
  }

  set serviceNetworks(networks: readonly Prefix[]) {
    this.#serviceNetworks = networks;
    this.#notify();
  }

  /** Sets the pod and service networks. Until then, every address counts as outside. */
  setClusterNetworks(networks: readonly Prefix[]): void {
    this.#clusterNetworks = networks;
    this.#touchNamespaces([...this.policies.values()].map(namespaceOf));
  }

  /** Sets the addresses of a name in EgressNetworkPolicies; undefined if they are not known. */
  setAddresses(name: string, addresses: ReadonlySet<Address> | undefined): void {
    if (addresses === undefined) this.#addresses.delete(name);
    else this.#addresses.set(name, addresses);
    const users = [...this.policies.values()].filter((policy) => namesOf(policy).includes(name));
    this.#touchNamespaces(users.map(namespaceOf));
  }

  /** The names that EgressNetworkPolicies use. */
  names(): Set<string> {
    return new Set([...this.policies.values()].flatMap(namesOf));
  }

  stateOf(key: string): ServiceState {
    const { namespace = '' } = nameFromKey(key);
    return {
      service: this.services.get(key),
      slices: this.#slicesOf(key),
      restrictions: {
        policies: sorted(this.policies.byIndex('namespace', namespace)),
        clusterNetworks: this.#clusterNetworks,
        addressesOf: (name) => this.#addresses.get(name),
      },
      unmarkedAt: this.#unmarkedAt.get(key),
    };
  }

  /** The Services that may need other rules since the last call. */
  takeChanged(): Set<string> {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed;
  }

  /** Calls the listener after each change that affects the rules. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #serviceChanged(change: Change<Service>): void {
    const { key } = change;
    if (change.type === 'deleted' || hasIdledAt(change.after)) this.#unmarkedAt.delete(key);
    else if (change.type === 'updated' && hasIdledAt(change.before)) {
      this.#unmarkedAt.set(key, this.#clock.monotonic());
    }
    this.#touch([key]);
  }

  /** Endpoints that the guard keeps count as ready. */
  #slicesOf(key: string): readonly EndpointSlice[] {
    const slices = sorted(this.slices.byIndex('service', key));
    return this.#guard.isKept(key) ? keepEndpoints(slices, () => true) : slices;
  }

  /** A slice without its Service has no rules. */
  #sliceChanged(change: Change<EndpointSlice>): void {
    const before = change.type === 'added' ? undefined : serviceOf(change.before);
    const after = change.type === 'deleted' ? undefined : serviceOf(change.after);
    const affected = [...new Set([before, after])].filter((key) => key !== undefined);
    for (const key of affected) this.#guard.set(key, this.slices.byIndex('service', key));
    this.#touch(affected.filter((key) => this.services.get(key) !== undefined));
  }

  #touchNamespaces(names: readonly string[]): void {
    if (names.length === 0) return;
    const namespaces = new Set(names);
    this.#touch(
      [...this.services.keys()].filter((key) => namespaces.has(nameFromKey(key).namespace ?? '')),
    );
  }

  #touch(keys: Iterable<string>): void {
    let isAffected = false;
    for (const key of keys) {
      this.#changed.add(key);
      isAffected = true;
    }
    if (isAffected) this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function serviceOf({ metadata }: EndpointSlice): string | undefined {
  const name = metadata?.labels?.[serviceNameLabel];
  const { namespace } = metadata ?? {};
  return name === undefined || name === '' || namespace === undefined
    ? undefined
    : `${namespace}/${name}`;
}

function asList(value: string | undefined): string[] {
  return value === undefined ? [] : [value];
}

function namespaceOf({ metadata }: EgressPolicy): string {
  return metadata?.namespace ?? '';
}

function namesOf({ rules }: EgressPolicy): string[] {
  return rules.flatMap(({ to }) => (to.kind === 'name' ? [to.name] : []));
}

function sorted<T extends EndpointSlice | EgressPolicy>(objects: readonly T[]): readonly T[] {
  if (objects.length < 2) return objects;
  return objects.toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
}
