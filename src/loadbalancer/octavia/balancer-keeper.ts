import type { Family } from '../../domain/address.ts';
import type { Node } from '../../kube/core-objects.ts';
import { keyOf } from '../../kube/object.ts';
import { OpenStackError } from '../../openstack/error.ts';
import type { LoadBalancing } from '../../openstack/load-balancing/contract.ts';
import { stuckChildren } from '../../openstack/load-balancing/stuck.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Owner, ProviderContext } from '../provider.ts';
import { applyPlan } from './apply-plan.ts';
import { balancerSpec } from './balancer-spec.ts';
import { leaveFormer, withdraw } from './departure.ts';
import { ErrorPace } from './error-pace.ts';
import { guestOn, ownPart, type Guest } from './guest.ts';
import { isKuryrs, type Identity } from './identity.ts';
import type { Inventory } from './inventory.ts';
import type { KlbView } from './klb-view.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import { isLeaving, tellClosed, tellForeign, tellLeaving, tellMissing } from './keeper-news.ts';
import { observedAsSent, type ObservedBalancer } from './observed.ts';
import { reachOf, type PodAccess, type Reach } from './pod-access.ts';
import { isMembersOnly, planBalancer, type ChangePlan, type Decision } from './plan-balancer.ts';
import { RefusedParts } from './refused-parts.ts';
import { ServingProvider } from './serving-provider.ts';
import type { Settling } from './settling.ts';
import { wantedBalancer, type WantedBalancer } from './wanted.ts';

export interface BalancerKeeperOptions {
  readonly balancing: LoadBalancing;
  readonly inventory: Inventory;
  readonly settling: Settling;
  readonly view: KlbView;
  readonly identity: Identity;
  readonly nodes: () => Iterable<Node>;
  /** The families of the subnets that we know, by id. */
  readonly subnetFamilies: ReadonlyMap<string, Family>;
  /** Undefined where nobody asked for the members to be made reachable. */
  readonly access: PodAccess | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

/** How far a load balancer is. */
export type Kept =
  | { readonly kind: 'serving'; readonly observed: ObservedBalancer; readonly hasChanged: boolean }
  | {
      readonly kind: 'pending';
      readonly message: string;
      readonly observed?: ObservedBalancer;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'refused'; readonly reason: string; readonly message: string };

const mostRounds = 6;

/** Makes Octavia have what a KuryrLoadBalancer asks for. */
export class BalancerKeeper {
  readonly #options: BalancerKeeperOptions;
  /** What was sent with a create, until the ids of its children are known. */
  readonly #sent = new Map<string, WantedBalancer>();
  readonly #refused = new RefusedParts();
  readonly #serving = new ServingProvider();
  readonly #pace: ErrorPace;
  /** Owners whose create may have got through without an answer. */
  readonly #doubtful = new Set<string>();
  /** Built step by step: those that were refused whole, or all where the service forgets children. */
  readonly #stepwise = new Set<string>();
  #forgetsChildren = false;

  constructor(options: BalancerKeeperOptions) {
    this.#options = options;
    this.#pace = new ErrorPace(options.clock, options.random);
  }

  async ensure(klb: KuryrLoadBalancer, owner: Owner, context: ProviderContext): Promise<Kept> {
    let hasChanged = false;
    for (let round = 1; round <= mostRounds; round += 1) {
      const guess = this.#wanted(klb);
      if (guess.kind === 'refused') return guess;
      const located = await this.#locate(klb, owner, guess.wanted, context);
      if (located.kind !== 'located') return located;
      const { observed } = located;
      const reading = this.#wanted(klb, observed);
      if (reading.kind === 'refused') return reading;
      if (round === 1) {
        for (const { reason, message } of reading.notes) context.tell('Warning', reason, message);
      }
      await this.#openAccess(reading.wanted, observed, context);
      const decision = this.#decide(klb, owner, reading.wanted, observed);
      if (observed === undefined || decision.kind === 'create') {
        return this.#create(klb, owner, reading.wanted, context);
      }
      switch (decision.kind) {
        case 'same':
          this.#pace.forget(owner.uid);
          await leaveFormer(this.#options, klb, owner, observed.balancer.id, context);
          return { kind: 'serving', observed: this.#own(klb, owner, observed), hasChanged };
        case 'wait':
          tellLeaving(klb, observed, context);
          return this.#await(observed, klb, decision.message, context);
        case 'refused':
          return decision;
        case 'replace':
          return this.#replace(observed, klb, owner, decision, context);
        case 'change':
          await this.#change(klb, owner, reading.wanted, observed, decision.plan, context);
          hasChanged = true;
      }
    }
    return { kind: 'pending', message: 'The load balancer keeps changing', retryAfterMs: 5_000 };
  }

  /** Whether only our own listeners on it are our business. */
  isShared(klb: KuryrLoadBalancer, balancerId: string): boolean {
    return (
      klb.spec?.options?.loadbalancer_id !== undefined ||
      this.#options.view.sharers(balancerId, keyOf(klb)).length > 0
    );
  }

  forget(owner: Owner): void {
    this.#pace.forget(owner.uid);
    this.#doubtful.delete(owner.uid);
    this.#stepwise.delete(owner.uid);
    this.#refused.forget(`${owner.namespace}/${owner.name}`);
  }

  /** What it asks for, as far as it can be had, and where it is. */
  reachOf(klb: KuryrLoadBalancer): Reach[] {
    const reading = this.#wanted(klb);
    const id = klb.spec?.options?.loadbalancer_id ?? klb.status?.loadbalancer?.id;
    const observed = this.#options.inventory.get(id ?? '');
    return reading.kind === 'wanted' ? [reachOf(reading.wanted, observed)] : [];
  }

  async #openAccess(
    wanted: WantedBalancer,
    observed: ObservedBalancer | undefined,
    context: ProviderContext,
  ): Promise<void> {
    const isKnown = await this.#options.access?.open(reachOf(wanted, observed), context);
    // Before it is made, Octavia may still have to choose the subnet.
    if (isKnown === false && observed !== undefined) tellClosed(context);
  }

  #wanted(klb: KuryrLoadBalancer, found?: ObservedBalancer) {
    const { balancing, inventory, nodes, subnetFamilies } = this.#options;
    const recorded = klb.spec?.options?.loadbalancer_id ?? klb.status?.loadbalancer?.id ?? '';
    const provider = this.#serving.of(klb, found ?? inventory.get(recorded));
    return wantedBalancer({
      klb,
      nodes: nodes(),
      subnetFamily: subnetFamilies.get(klb.spec?.subnet_id ?? ''),
      provider,
      capabilities: balancing.capabilities(provider),
      skipped: this.#refused.skipped(klb),
    });
  }

  #decide(
    klb: KuryrLoadBalancer,
    owner: Owner,
    wanted: WantedBalancer,
    observed: ObservedBalancer | undefined,
  ): Decision {
    const { identity, balancing } = this.#options;
    const guest = observed && this.#guest(klb, owner, observed);
    return planBalancer(wanted, observed, {
      description: identity.description(owner),
      tags: balancing.capabilities().tags ? [identity.tag] : [],
      isShared: observed !== undefined && this.isShared(klb, observed.balancer.id),
      left: this.#refused.left(klb),
      ...(guest === undefined ? {} : { guest }),
    });
  }

  #guest(klb: KuryrLoadBalancer, owner: Owner, observed: ObservedBalancer): Guest | undefined {
    const isGiven = klb.spec?.options?.loadbalancer_id === observed.balancer.id;
    return isGiven ? guestOn(observed, klb, owner, this.#options.identity) : undefined;
  }

  #own(klb: KuryrLoadBalancer, owner: Owner, observed: ObservedBalancer): ObservedBalancer {
    return ownPart(observed, this.#guest(klb, owner, observed));
  }

  /** The load balancer: by the status, by what the user names, or by name where the status was lost. */
  async #locate(
    klb: KuryrLoadBalancer,
    owner: Owner,
    wanted: WantedBalancer,
    context: ProviderContext,
  ): Promise<
    { kind: 'located'; observed: ObservedBalancer | undefined } | Exclude<Kept, { kind: 'serving' }>
  > {
    const { inventory, identity } = this.#options;
    const given = klb.spec?.options?.loadbalancer_id;
    const recorded = given ?? klb.status?.loadbalancer?.id;
    if (recorded === undefined)
      return { kind: 'located', observed: await this.#search(owner, wanted, context) };
    const known = await inventory.current(recorded, context);
    if (known === undefined && given !== undefined) {
      const message = `There is no load balancer ${given}. Correct the annotation load-balancer-id, or remove it.`;
      return { kind: 'refused', reason: 'NoSuchLoadBalancer', message };
    }
    if (given !== undefined && known !== undefined && identity.isOfOtherCluster(known.balancer)) {
      const message = `The load balancer ${given} belongs to another cluster. Choose another one.`;
      return { kind: 'refused', reason: 'OtherClustersLoadBalancer', message };
    }
    if (known === undefined) {
      context.tell(
        'Warning',
        'LoadBalancerMissing',
        `The load balancer ${recorded} does not exist any more. Making it anew.`,
      );
      return { kind: 'located', observed: await this.#search(owner, wanted, context) };
    }
    const wasGiven = klb.status?.loadbalancer?.given === true;
    if (given === undefined && !identity.isMadeFor(owner, known.balancer, wasGiven)) {
      tellForeign(known, context);
      await withdraw(this.#options, klb, owner, known, context);
      return { kind: 'located', observed: await this.#search(owner, wanted, context) };
    }
    return { kind: 'located', observed: await this.#complete(known, context) };
  }

  /** One that we or Kuryr have made for this Service and that nothing names. */
  async #search(
    owner: Owner,
    wanted: WantedBalancer,
    context: ProviderContext,
  ): Promise<ObservedBalancer | undefined> {
    const { inventory, identity } = this.#options;
    const mine = identity.description(owner);
    const identifying = {
      ...(wanted.address === undefined ? {} : { address: wanted.address }),
      ...(wanted.subnetId === undefined ? {} : { subnetId: wanted.subnetId }),
      ...(wanted.provider === undefined ? {} : { provider: wanted.provider }),
    };
    // One that is on its way out comes last, but it is waited for: it still has the address.
    const candidates = [...inventory.named(wanted.name)].sort(
      (left, right) => Number(isLeaving(left)) - Number(isLeaving(right)),
    );
    const found =
      candidates.find(({ balancer }) => balancer.description === mine) ??
      candidates.find(({ balancer }) => isKuryrs(balancer, identifying));
    const known = found && (await inventory.current(found.balancer.id, context));
    return known === undefined ? undefined : this.#complete(known, context);
  }

  /** Finds out about the children of one that was created whole, once it is there. */
  async #complete(known: ObservedBalancer, context: ProviderContext): Promise<ObservedBalancer> {
    const { balancing, inventory } = this.#options;
    const { id, provisioningStatus } = known.balancer;
    const sent = this.#sent.get(id);
    if (sent === undefined || provisioningStatus !== 'ACTIVE') return known;
    const tree = await balancing.statusTree(id, context);
    this.#sent.delete(id);
    if (balancing.kind === 'octavia' && stuckChildren(tree).length > 0) {
      this.#forgetsChildren = true;
      context.log.warn({ loadBalancer: id }, 'the service forgot the children of a create');
      // Only deleting it whole helps; an ERROR is dealt with in just that way.
      const balancer = { ...known.balancer, provisioningStatus: 'ERROR' as const };
      return { ...known, balancer };
    }
    const observed = observedAsSent(known.balancer, sent, tree);
    inventory.put(observed);
    return observed;
  }

  async #create(
    klb: KuryrLoadBalancer,
    owner: Owner,
    wanted: WantedBalancer,
    context: ProviderContext,
  ): Promise<Kept> {
    const { balancing, inventory, identity } = this.#options;
    const restMs = this.#pace.restMs(owner.uid);
    if (restMs > 0) {
      const message = 'The last one ended in ERROR; making it anew in a while';
      return { kind: 'pending', message, retryAfterMs: restMs };
    }
    const isStepwise = this.#forgetsChildren || this.#stepwise.has(owner.uid);
    const marks = {
      description: identity.description(owner),
      tags: balancing.capabilities().tags ? [identity.tag] : [],
    };
    context.tell('Normal', 'KuryrEnsureLB', 'Provisioning a load balancer');
    const mayExist = this.#doubtful.has(owner.uid);
    this.#doubtful.add(owner.uid);
    try {
      const spec = balancerSpec(wanted, marks, !isStepwise);
      const balancer = await balancing.createLoadBalancer(spec, {
        signal: context.signal,
        once: 'description',
        mayExist,
      });
      this.#doubtful.delete(owner.uid);
      this.#serving.learn(wanted.provider, balancer.provider);
      if (!isStepwise) this.#sent.set(balancer.id, wanted);
      const observed = inventory.putBare(balancer);
      return this.#await(observed, klb, 'The load balancer is being made', context);
    } catch (error) {
      if (error instanceof OpenStackError && error.outcome === 'refused')
        this.#doubtful.delete(owner.uid);
      if (!(error instanceof OpenStackError) || error.status !== 501 || isStepwise) throw error;
      // Something in it can't be done: made one by one, only that is left out.
      this.#stepwise.add(owner.uid);
      const message = 'The load balancer is made one listener after another';
      return { kind: 'pending', message, retryAfterMs: 1 };
    }
  }

  async #change(
    klb: KuryrLoadBalancer,
    owner: Owner,
    wanted: WantedBalancer,
    observed: ObservedBalancer,
    plan: ChangePlan,
    context: ProviderContext,
  ): Promise<void> {
    const { balancing, inventory, settling } = this.#options;
    const { id } = observed.balancer;
    let basis = observed;
    let changes = plan;
    if (!isMembersOnly(plan)) {
      // What is known may be old; nothing but members is changed without a fresh look.
      const fresh = await inventory.read(id, context);
      if (fresh === undefined) return;
      const decision = this.#decide(klb, owner, wanted, fresh);
      if (decision.kind !== 'change') return;
      basis = fresh;
      changes = decision.plan;
      tellMissing(klb, fresh, context);
    }
    try {
      const applied = await applyPlan(balancing, basis, changes, context);
      inventory.put(applied.observed);
      this.#refused.record(klb, applied, context);
      settling.watch(id, keyOf(klb));
    } catch (error) {
      // Something of it may be done: the next look must not trust what we knew.
      inventory.distrust(id);
      throw error;
    }
  }

  /** Deletes it whole; it is made anew once it is gone. */
  async #replace(
    observed: ObservedBalancer,
    klb: KuryrLoadBalancer,
    owner: Owner,
    { reason, message }: { readonly reason: string; readonly message: string },
    context: ProviderContext,
  ): Promise<Kept> {
    const { balancing, inventory } = this.#options;
    const { id, provisioningStatus } = observed.balancer;
    const current = await inventory.read(id, context);
    if (current !== undefined && provisioningStatus === 'ERROR' && !this.#forgetsChildren) {
      if (current.balancer.provisioningStatus !== 'ERROR') {
        return this.#await(current, klb, 'The load balancer has left ERROR', context);
      }
      this.#pace.failed(owner.uid);
    }
    context.tell('Warning', reason, message);
    if (current === undefined) return { kind: 'pending', message, retryAfterMs: 1 };
    await balancing.deleteLoadBalancer(id, { signal: context.signal, cascade: true });
    const leaving = { ...current.balancer, provisioningStatus: 'PENDING_DELETE' as const };
    return this.#await(inventory.putBare(leaving), klb, message, context);
  }

  #await(
    observed: ObservedBalancer,
    klb: KuryrLoadBalancer,
    message: string,
    context: ProviderContext,
  ): Kept {
    const { settling } = this.#options;
    const { id, provisioningStatus } = observed.balancer;
    if (settling.isOverdue(id)) {
      const overdue = `The load balancer ${id} has been ${provisioningStatus} for too long. Only the cloud's operator can reset it.`;
      context.tell('Warning', 'KuryrEnsureLBError', overdue);
    }
    settling.watch(id, keyOf(klb));
    return { kind: 'pending', message, observed };
  }
}
