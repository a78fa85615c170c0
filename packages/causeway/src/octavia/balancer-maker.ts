import { OpenStackError } from '@causeway/openstack/error';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import { stuckChildren } from '@causeway/openstack/load-balancing/stuck';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { balancerSpec } from './balancer-spec.ts';
import type { Inventory } from './inventory.ts';
import { observedAsSent, type ObservedBalancer } from './observed.ts';
import type { WantedBalancer } from './desired.ts';

/** Creates load balancers, each in one request with all children where Octavia supports that. */
export class BalancerMaker {
  readonly #balancing: LoadBalancing;
  readonly #inventory: Inventory;
  /** The content of a create request, until the IDs of the children are known. */
  readonly #sent = new Map<string, WantedBalancer>();
  /** Owners with a create request that may have succeeded without an answer. */
  readonly #doubtful = new Set<string>();
  /**
   * Owners that are created step by step: after a rejected request, or all of them where Octavia loses
   * children.
   */
  readonly #stepwise = new Set<string>();
  #losesChildren = false;

  constructor(balancing: LoadBalancing, inventory: Inventory) {
    this.#balancing = balancing;
    this.#inventory = inventory;
  }

  /** Whether Octavia has left children of a create request PENDING before. */
  get losesChildren(): boolean {
    return this.#losesChildren;
  }

  drop({ uid }: Owner): void {
    this.#doubtful.delete(uid);
    this.#stepwise.delete(uid);
  }

  /**
   * Returns undefined after a rejection of the whole request. The next attempt creates the load balancer
   * without children.
   */
  async make(
    wanted: WantedBalancer,
    { uid }: Owner,
    marks: { readonly description: string; readonly tags: readonly string[] },
    { signal }: ProviderContext,
  ): Promise<LoadBalancer | undefined> {
    const isStepwise = this.#losesChildren || this.#stepwise.has(uid);
    const mayExist = this.#doubtful.has(uid);
    this.#doubtful.add(uid);
    try {
      const spec = balancerSpec(wanted, marks, !isStepwise);
      const call = { signal, once: 'description', mayExist } as const;
      const balancer = await this.#balancing.createLoadBalancer(spec, call);
      this.#doubtful.delete(uid);
      if (!isStepwise) this.#sent.set(balancer.id, wanted);
      return balancer;
    } catch (error) {
      if (!(error instanceof OpenStackError)) throw error;
      if (error.outcome === 'refused') this.#doubtful.delete(uid);
      if (error.status !== 501 || isStepwise) throw error;
      // Octavia does not support a part of it. Created step by step, only that part is missing.
      this.#stepwise.add(uid);
      return undefined;
    }
  }

  /** Reads the children of a load balancer that was created in one request, once it exists. */
  async complete(known: ObservedBalancer, context: ProviderContext): Promise<ObservedBalancer> {
    const { id, provisioningStatus } = known.balancer;
    const sent = this.#sent.get(id);
    if (sent === undefined || provisioningStatus !== 'ACTIVE') return known;
    const tree = await this.#balancing.statusTree(id, context);
    this.#sent.delete(id);
    if (this.#balancing.kind === 'octavia' && stuckChildren(tree).length > 0) {
      this.#losesChildren = true;
      context.log.warn({ loadBalancer: id }, 'the service lost the children of a create request');
      // Only the deletion of the whole load balancer helps, which is how an ERROR is handled.
      const balancer = { ...known.balancer, provisioningStatus: 'ERROR' as const };
      return { ...known, balancer };
    }
    const observed = observedAsSent(known.balancer, sent, tree);
    this.#inventory.put(observed);
    return observed;
  }
}
