import type { Address } from '@causeway/base/address/address';
import type { Frontend } from '../../protocol/frontend.ts';
import type { AgentFleet } from '../fleet/agent-fleet.ts';
import type { BudgetExcess } from '@causeway/kubernetes/objects/service-budget';
import type { PodPolicies } from './pod-policies.ts';
import type { ReasonSink } from '../reasons/reason-queue.ts';

/** Keeps the gateways informed about the policies of the pods that they send to, and of no others. */
export class ServedPolicies {
  readonly #policies: PodPolicies;
  readonly #fleet: AgentFleet;
  /** The addresses that the gateways send to, by namespace and Service. */
  readonly #served = new Map<string, Map<string, ReadonlySet<Address>>>();
  /** Services that wait for information about their pods, by namespace. */
  readonly #waiting = new Map<string, Set<string>>();
  /** Namespaces with policies beyond the budget. */
  readonly #overBudget = new Set<string>();
  /** Addresses of pods with another weight since the last update, by namespace. */
  readonly #reweighted = new Map<string, Set<Address>>();
  #isStarted = false;

  constructor(policies: PodPolicies, fleet: AgentFleet) {
    this.#policies = policies;
    this.#fleet = fleet;
  }

  isPodKnown(namespace: string, address: Address): boolean {
    return this.#policies.isKnown(namespace, address);
  }

  /** The weight of a pod (`namespace/name`), and whether its annotation can be read. */
  weightOf(pod: string): ReturnType<PodPolicies['weightOf']> {
    return this.#policies.weightOf(pod);
  }

  /** Why the policies of the namespace are too large for gateways, if so. */
  excess(namespace: string): BudgetExcess | undefined {
    return this.#policies.excess(namespace);
  }

  /** Sets the frontends of a Service; none after its removal. */
  serve(service: string, frontends: readonly Frontend[], isIncomplete: boolean): void {
    const namespace = namespaceOf(service);
    const waiting = this.#waiting.get(namespace) ?? new Set<string>();
    if (isIncomplete) this.#waiting.set(namespace, waiting.add(service));
    else waiting.delete(service);
    const services = this.#served.get(namespace) ?? new Map<string, ReadonlySet<Address>>();
    const before = services.get(service) ?? new Set<Address>();
    const after = new Set(
      frontends.flatMap(({ destinations }) => destinations.map(({ address }) => address)),
    );
    if (after.size === 0) services.delete(service);
    else services.set(service, after);
    this.#served.set(namespace, services);
    if (before.symmetricDifference(after).size > 0) this.#refresh(namespace);
  }

  /** Sends all policies, when all are known. */
  start(): void {
    this.#isStarted = true;
    for (const namespace of this.#served.keys()) this.#refresh(namespace);
  }

  /** Publishes changes of policies and pods. */
  follow(reasons: ReasonSink): () => void {
    return this.#policies.onChange((namespace, reweighted) => {
      const addresses = this.#reweighted.get(namespace) ?? new Set<Address>();
      for (const address of reweighted) addresses.add(address);
      if (addresses.size > 0) this.#reweighted.set(namespace, addresses);
      reasons.add({ kind: 'policies-changed', namespace });
    });
  }

  /**
   * Sends the policies of the namespace again. Returns the Services to reconcile: those that waited for their
   * pods, those with pods of another weight, and those whose policies have become too large.
   */
  update(namespace: string): readonly string[] {
    const closed = this.#closedNow(namespace);
    this.#refresh(namespace);
    const waiting = this.#waiting.get(namespace) ?? [];
    return [...closed, ...waiting, ...this.#takeReweighted(namespace)];
  }

  /** The served Services with pods whose weight has changed. */
  #takeReweighted(namespace: string): string[] {
    const addresses = this.#reweighted.get(namespace);
    if (addresses === undefined) return [];
    this.#reweighted.delete(namespace);
    return [...(this.#served.get(namespace) ?? [])]
      .filter(([, served]) => !served.isDisjointFrom(addresses))
      .map(([service]) => service);
  }

  /** The served Services of a namespace with policies that have become too large. */
  #closedNow(namespace: string): string[] {
    if (this.#policies.excess(namespace) === undefined) {
      this.#overBudget.delete(namespace);
      return [];
    }
    if (this.#overBudget.has(namespace)) return [];
    this.#overBudget.add(namespace);
    return [...(this.#served.get(namespace)?.keys() ?? [])];
  }

  #refresh(namespace: string): void {
    const services = this.#served.get(namespace);
    if (!this.#isStarted || services === undefined) return;
    const addresses = new Set<Address>();
    for (const each of services.values()) for (const address of each) addresses.add(address);
    this.#fleet.setPolicies(namespace, this.#policies.of(namespace, addresses));
    if (services.size === 0) this.#served.delete(namespace);
  }
}

function namespaceOf(service: string): string {
  return service.slice(0, service.indexOf('/'));
}
