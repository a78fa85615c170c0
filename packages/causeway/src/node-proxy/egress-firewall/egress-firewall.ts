import type { Prefix } from '@causeway/base/address/prefix';
import type { Address } from '@causeway/base/address/address';
import type { Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import { keyOf, nameFromKey, type ObjectReference } from '@causeway/kubernetes/objects/object';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { ServiceProxy } from '../served-service.ts';
import type { EgressNetworkPolicy } from './egress-network-policy.ts';
import { parseEgressPolicy, type EgressPolicy } from './egress-rules.ts';
import { judgeSlice, type Judgement } from './judge.ts';
import { egressJudgements, hiddenSlices } from './metric-definitions.ts';

export interface EgressFirewallOptions {
  readonly inner: ServiceProxy;
  /** Policies in these namespaces have no effect. */
  readonly exemptNamespaces: ReadonlySet<string>;
  readonly addressesOf: (name: string) => ReadonlySet<Address> | undefined;
  /** Called with the names that policies use now. */
  readonly watchNames: (names: ReadonlySet<string>) => void;
  /** Records a hidden slice as an Event of its Service. */
  readonly reportHidden: (service: ObjectReference, message: string) => void;
  readonly metrics: Metrics;
}

interface Tracked {
  readonly slice: EndpointSlice;
  readonly judgement: Judgement;
}

const serviceLabel = 'kubernetes.io/service-name';

/**
 * The outermost proxy. Hides slices with endpoints that the namespace's egress firewall denies. So no Service
 * can bypass the firewall, neither through the base proxy nor through the holder.
 */
export class EgressFirewall implements ServiceProxy {
  readonly #options: EgressFirewallOptions;
  readonly #slices = new Map<string, Map<string, Tracked>>();
  readonly #policies = new Map<string, Map<string, EgressPolicy>>();
  readonly #hiddenGauge;
  readonly #changes;
  /** Number of slices that each rule hides, by namespace. */
  readonly #hidden = new Map<string, Map<string, number>>();
  #clusterNetworks: readonly Prefix[] = [];

  constructor(options: EgressFirewallOptions) {
    this.#options = options;
    this.#hiddenGauge = options.metrics.gauge(hiddenSlices);
    this.#changes = options.metrics.counter(egressJudgements);
  }

  setService(service: Service): void {
    this.#options.inner.setService(service);
  }

  removeService(key: string): void {
    this.#options.inner.removeService(key);
  }

  setSlice(slice: EndpointSlice): void {
    const { namespace = '' } = slice.metadata ?? {};
    const slices = this.#slices.get(namespace) ?? new Map<string, Tracked>();
    this.#slices.set(namespace, slices);
    this.#place(slices, slice, true);
  }

  removeSlice(key: string): void {
    const { namespace = '' } = nameFromKey(key);
    const slices = this.#slices.get(namespace);
    const tracked = slices?.get(key);
    if (tracked === undefined) return;
    slices?.delete(key);
    if (slices?.size === 0) this.#slices.delete(namespace);
    if (tracked.judgement.kind === 'shown') this.#options.inner.removeSlice(key);
    this.#count(namespace, tracked.judgement, undefined);
  }

  synced(): void {
    this.#options.inner.synced();
  }

  setPolicy(policy: EgressNetworkPolicy): void {
    const { namespace = '' } = policy.metadata ?? {};
    if (this.#options.exemptNamespaces.has(namespace)) return;
    const policies = this.#policies.get(namespace) ?? new Map<string, EgressPolicy>();
    policies.set(keyOf(policy), parseEgressPolicy(policy));
    this.#policies.set(namespace, policies);
    this.#policiesChanged(namespace);
  }

  removePolicy(key: string): void {
    const { namespace = '' } = nameFromKey(key);
    const policies = this.#policies.get(namespace);
    if (policies?.delete(key) !== true) return;
    if (policies.size === 0) this.#policies.delete(namespace);
    this.#policiesChanged(namespace);
  }

  /** Sets the pod and service networks. Until then, every address counts as outside. */
  setClusterNetworks(networks: readonly Prefix[]): void {
    this.#clusterNetworks = networks;
    for (const namespace of this.#policies.keys()) this.#judgeAll(namespace);
  }

  /** The addresses of a name changed: re-evaluates the namespaces that use it. */
  nameChanged(name: string): void {
    for (const [namespace, policies] of this.#policies) {
      const speaks = [...policies.values()].some(({ rules }) =>
        rules.some(({ to }) => to.kind === 'name' && to.name === name),
      );
      if (speaks) this.#judgeAll(namespace);
    }
  }

  #policiesChanged(namespace: string): void {
    const names = new Set<string>();
    for (const policies of this.#policies.values()) {
      for (const { rules } of policies.values()) {
        for (const { to } of rules) if (to.kind === 'name') names.add(to.name);
      }
    }
    this.#options.watchNames(names);
    this.#judgeAll(namespace);
  }

  #judgeAll(namespace: string): void {
    const slices = this.#slices.get(namespace);
    if (slices === undefined) return;
    for (const { slice } of slices.values()) this.#place(slices, slice, false);
  }

  /** Evaluates a slice and passes on the result; an unchanged slice that stays visible is not passed on. */
  #place(slices: Map<string, Tracked>, slice: EndpointSlice, isNew: boolean): void {
    const { inner, addressesOf } = this.#options;
    const clusterNetworks = this.#clusterNetworks;
    const key = keyOf(slice);
    const { namespace = '' } = slice.metadata ?? {};
    const before = slices.get(key)?.judgement;
    const policies = [...(this.#policies.get(namespace)?.values() ?? [])];
    const judgement = judgeSlice(slice, policies, { clusterNetworks, addressesOf });
    slices.set(key, { slice, judgement });
    this.#count(namespace, before, judgement);
    if (judgement.kind === 'shown') {
      if (before?.kind === 'hidden') this.#changes.add({ namespace, verdict: 'shown' });
      if (isNew || before?.kind !== 'shown') inner.setSlice(slice);
      return;
    }
    if (before?.kind === 'shown') inner.removeSlice(key);
    if (before?.kind !== 'hidden') this.#changes.add({ namespace, verdict: 'hidden' });
    const isSame = before?.kind === 'hidden' && before.because === judgement.because;
    if (!isSame) this.#report(slice, judgement.address, judgement.because);
  }

  #report(slice: EndpointSlice, address: string, because: string): void {
    const { namespace = '', name = '', labels } = slice.metadata ?? {};
    const service = labels?.[serviceLabel];
    if (service === undefined) return;
    this.#options.reportHidden(
      { apiVersion: 'v1', kind: 'Service', namespace, name: service },
      `The endpoints of the EndpointSlice ${name} are not used: ${address} is denied by ${because}.`,
    );
  }

  #count(namespace: string, before: Judgement | undefined, after: Judgement | undefined): void {
    const rules = this.#hidden.get(namespace) ?? new Map<string, number>();
    this.#hidden.set(namespace, rules);
    for (const [judgement, change] of [
      [before, -1],
      [after, 1],
    ] as const) {
      if (judgement?.kind !== 'hidden') continue;
      const { rule } = judgement;
      const count = (rules.get(rule) ?? 0) + change;
      rules.set(rule, count);
      if (count > 0) this.#hiddenGauge.set({ namespace, rule }, count);
      else {
        rules.delete(rule);
        this.#hiddenGauge.remove({ namespace, rule });
      }
    }
    if (rules.size === 0) this.#hidden.delete(namespace);
  }
}
