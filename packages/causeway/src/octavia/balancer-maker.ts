import { OpenStackError } from '@causeway/openstack/error';
import type { LoadBalancing } from '@causeway/openstack/load-balancing/contract';
import type { LoadBalancer } from '@causeway/openstack/load-balancing/resources';
import { stuckChildren } from '@causeway/openstack/load-balancing/stuck';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { balancerSpec } from './balancer-spec.ts';
import type { Inventory } from './inventory.ts';
import { observedAsSent, type ObservedBalancer } from './observed.ts';
import type { WantedBalancer } from './desired.ts';

/** Makes load balancers, each in one request with everything under it where the service can. */
export class BalancerMaker {
  readonly #balancing: LoadBalancing;
  readonly #inventory: Inventory;
  /** What was sent with a create, until the ids of its children are known. */
  readonly #sent = new Map<string, WantedBalancer>();
  /** Owners whose create may have got through without an answer. */
  readonly #doubtful = new Set<string>();
  /** Built step by step: those that were refused whole, or all where the service forgets children. */
  readonly #stepwise = new Set<string>();
  #forgetsChildren = false;

  constructor(balancing: LoadBalancing, inventory: Inventory) {
    this.#balancing = balancing;
    this.#inventory = inventory;
  }

  /** The service has left children of a create PENDING before. */
  get forgetsChildren(): boolean {
    return this.#forgetsChildren;
  }

  forget({ uid }: Owner): void {
    this.#doubtful.delete(uid);
    this.#stepwise.delete(uid);
  }

  /** Undefined: it was refused as a whole, and the next try makes it without what is under it. */
  async make(
    wanted: WantedBalancer,
    { uid }: Owner,
    marks: { readonly description: string; readonly tags: readonly string[] },
    { signal }: ProviderContext,
  ): Promise<LoadBalancer | undefined> {
    const isStepwise = this.#forgetsChildren || this.#stepwise.has(uid);
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
      // Something in it can't be done: made one by one, only that is left out.
      this.#stepwise.add(uid);
      return undefined;
    }
  }

  /** Finds out about the children of one that was created whole, once it is there. */
  async complete(known: ObservedBalancer, context: ProviderContext): Promise<ObservedBalancer> {
    const { id, provisioningStatus } = known.balancer;
    const sent = this.#sent.get(id);
    if (sent === undefined || provisioningStatus !== 'ACTIVE') return known;
    const tree = await this.#balancing.statusTree(id, context);
    this.#sent.delete(id);
    if (this.#balancing.kind === 'octavia' && stuckChildren(tree).length > 0) {
      this.#forgetsChildren = true;
      context.log.warn({ loadBalancer: id }, 'the service forgot the children of a create');
      // Only deleting it whole helps; an ERROR is dealt with in just that way.
      const balancer = { ...known.balancer, provisioningStatus: 'ERROR' as const };
      return { ...known, balancer };
    }
    const observed = observedAsSent(known.balancer, sent, tree);
    this.#inventory.put(observed);
    return observed;
  }
}
