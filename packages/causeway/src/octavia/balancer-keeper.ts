import type { EventReason } from '@causeway/kubernetes/events/event-definition';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { isPending } from '@causeway/openstack/load-balancing/lock';
import type { Clock } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { applyPlan } from './apply-plan.ts';
import { BalancerMaker } from './balancer-maker.ts';
import { leaveFormer, withdraw } from './leave-shared-balancer.ts';
import { ErrorPace } from './error-pace.ts';
import { sharedBalancerOn, ownPart, refusalOf, type SharedBalancer } from './shared-balancer.ts';
import type { KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import {
  isLeaving,
  recordClosed,
  recordForeign,
  recordLeaving,
  recordLost,
  recordMissing,
  recordOverdue,
} from './record-balancer-events.ts';
import { timeoutsSet, withoutTimeoutsSet } from './listener-timeouts.ts';
import type { ObservedBalancer } from './observed.ts';
import { reachOf, type Reach } from './pod-access.ts';
import { isMembersOnly, planBalancer, type ChangePlan, type Decision } from './plan-balancer.ts';
import { RefusedParts } from './refused-parts.ts';
import type { OctaviaState } from './state.ts';
import { ServingProvider } from './serving-provider.ts';
import type { PendingChanges } from './pending-changes.ts';
import { unnamedBalancer } from './unnamed-balancer.ts';
import { wantedBalancer, type WantedBalancer } from './desired.ts';
import { closingOf } from './listener-withdrawal.ts';

export interface BalancerKeeperOptions extends OctaviaState {
  readonly pendingChanges: PendingChanges;
  readonly clock: Clock;
  readonly random: Random;
}

/** The progress of a load balancer. */
export type Kept =
  | { readonly kind: 'serving'; readonly observed: ObservedBalancer }
  | {
      readonly kind: 'pending';
      readonly message: string;
      readonly observed?: ObservedBalancer;
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'refused'; readonly reason: EventReason; readonly message: string };

const mostRounds = 6;
/**
 * The longest time that a worker waits for a busy load balancer. After that, the end of the change triggers a
 * reconcile.
 */
const lockPatienceMs = 60_000;

/** Makes Octavia match a KuryrLoadBalancer. */
export class BalancerKeeper {
  readonly #options: BalancerKeeperOptions;
  readonly #refused = new RefusedParts();
  readonly #serving = new ServingProvider();
  readonly #pace: ErrorPace;
  readonly #maker: BalancerMaker;

  constructor(options: BalancerKeeperOptions) {
    this.#options = options;
    this.#pace = new ErrorPace(options.clock, options.random);
    this.#maker = new BalancerMaker(options.balancing, options.inventory);
  }

  async ensure(asked: KuryrLoadBalancer, owner: Owner, context: ProviderContext): Promise<Kept> {
    let klb = asked;
    for (let round = 1; round <= mostRounds; round += 1) {
      const guess = this.#wanted(klb);
      if (guess.kind === 'refused') return this.close(klb, owner, guess, context);
      const located = await this.#locate(klb, owner, guess.wanted, context);
      if (located.kind !== 'located') return located;
      const { observed } = located;
      const reading = this.#wanted(klb, observed);
      if (reading.kind === 'refused') return this.close(klb, owner, reading, context);
      if (round === 1) {
        for (const { reason, message } of reading.notes) context.recordEvent(reason, message);
      }
      await this.#openAccess(reading.wanted, observed, context);
      const decision = this.#decide(klb, owner, reading.wanted, observed);
      if (observed === undefined || decision.kind === 'create') {
        return this.#create(klb, owner, reading.wanted, context);
      }
      switch (decision.kind) {
        case 'same':
          this.#pace.drop(owner.uid);
          recordOverdue(this.#options.pendingChanges, observed, context);
          await leaveFormer(this.#options, klb, owner, observed.balancer.id, context);
          return { kind: 'serving', observed: this.#own(klb, owner, observed) };
        case 'wait':
          recordLeaving(klb, observed, context);
          return this.#await(observed, klb, decision.message, context);
        case 'refused':
          return decision;
        case 'replace':
          return this.#replace(observed, klb, owner, decision, context);
        case 'change': {
          const busy = await this.#change(
            klb,
            owner,
            reading.wanted,
            observed,
            decision.plan,
            context,
          );
          if (busy !== undefined) return this.#busy(busy, klb, context);
          klb = withoutTimeoutsSet(klb);
        }
      }
    }
    return {
      kind: 'pending',
      message: 'The load balancer changes again and again',
      retryAfterMs: 5_000,
    };
  }

  /** Removes the listeners of a Service that must not be served. The load balancer stays. */
  async close(
    klb: KuryrLoadBalancer,
    owner: Owner,
    refusal: Extract<Kept, { kind: 'refused' }>,
    context: ProviderContext,
  ): Promise<Kept> {
    const { inventory, identity, balancing } = this.#options;
    const id = klb.status?.loadbalancer?.id ?? '';
    const closingOn = (found: ObservedBalancer | undefined) =>
      found && closingOf(klb, ownPart(found, sharedBalancerOn(found, klb, owner, identity)));
    if (id === '' || closingOn(inventory.get(id)) === undefined) return refusal;
    const current = await inventory.read(id, context);
    const plan = closingOn(current);
    if (current === undefined || plan === undefined || isLeaving(current)) return refusal;
    if (isPending(current.balancer)) return this.#busy(current, klb, context);
    inventory.put((await applyPlan(balancing, current, plan, context)).observed);
    return refusal;
  }

  /** Whether the load balancer is shared, so that only this Service's listeners count. */
  isShared(klb: KuryrLoadBalancer, balancerId: string): boolean {
    return (
      klb.spec?.options?.loadbalancer_id !== undefined ||
      this.#options.klbs.sharers(balancerId, keyOf(klb)).length > 0
    );
  }

  drop(owner: Owner): void {
    this.#pace.drop(owner.uid);
    this.#maker.drop(owner);
    this.#refused.drop(`${owner.namespace}/${owner.name}`);
  }

  /** The wanted load balancer, as far as it is supported, and the subnet of its VIP. */
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
    // Before the creation, Octavia may still have to choose the subnet.
    if (isKnown === false && observed !== undefined) recordClosed(context);
  }

  #wanted(klb: KuryrLoadBalancer, found?: ObservedBalancer) {
    const { balancing, inventory, cluster, subnets } = this.#options;
    const subnet = [...subnets.values()].find(({ id }) => id === klb.spec?.subnet_id);
    const recorded = klb.spec?.options?.loadbalancer_id ?? klb.status?.loadbalancer?.id ?? '';
    const provider = this.#serving.of(klb, found ?? inventory.get(recorded));
    return wantedBalancer({
      klb,
      nodes: cluster.nodes(),
      subnetFamily: subnet?.family,
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
    const sharedBalancer = observed && this.#sharedBalancer(klb, owner, observed);
    return planBalancer(wanted, observed, {
      ...this.#marks(owner),
      isShared: observed !== undefined && this.isShared(klb, observed.balancer.id),
      left: this.#refused.left(klb),
      timeoutsSet: timeoutsSet(klb),
      ...(sharedBalancer === undefined ? {} : { sharedBalancer }),
    });
  }

  #marks(owner: Owner) {
    const { identity, balancing } = this.#options;
    const tags = balancing.capabilities().tags ? [identity.tag] : [];
    return { description: identity.description(owner), tags };
  }

  #sharedBalancer(
    klb: KuryrLoadBalancer,
    owner: Owner,
    observed: ObservedBalancer,
  ): SharedBalancer | undefined {
    const isGiven = klb.spec?.options?.loadbalancer_id === observed.balancer.id;
    return isGiven ? sharedBalancerOn(observed, klb, owner, this.#options.identity) : undefined;
  }

  #own(klb: KuryrLoadBalancer, owner: Owner, observed: ObservedBalancer): ObservedBalancer {
    return ownPart(observed, this.#sharedBalancer(klb, owner, observed));
  }

  /**
   * Finds the load balancer: by the status, by the user's annotation, or by name where the status was lost.
   */
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
    const refusal = given === undefined ? undefined : refusalOf(given, known, identity);
    if (refusal !== undefined) return { kind: 'refused', ...refusal };
    if (known === undefined) {
      recordLost(recorded, context);
      return { kind: 'located', observed: await this.#search(owner, wanted, context) };
    }
    const wasGiven = klb.status?.loadbalancer?.given === true;
    if (given === undefined && !identity.isMadeFor(owner, known.balancer, wasGiven)) {
      recordForeign(known, context);
      await withdraw(this.#options, klb, owner, known, context);
      return { kind: 'located', observed: await this.#search(owner, wanted, context) };
    }
    return { kind: 'located', observed: await this.#maker.complete(known, context) };
  }

  async #search(
    owner: Owner,
    wanted: WantedBalancer,
    context: ProviderContext,
  ): Promise<ObservedBalancer | undefined> {
    const { inventory, identity } = this.#options;
    const found = unnamedBalancer(inventory, identity, owner, wanted);
    const known = found && (await inventory.current(found.balancer.id, context));
    return known === undefined ? undefined : this.#maker.complete(known, context);
  }

  async #create(
    klb: KuryrLoadBalancer,
    owner: Owner,
    wanted: WantedBalancer,
    context: ProviderContext,
  ): Promise<Kept> {
    const restMs = this.#pace.restMs(owner.uid);
    if (restMs > 0) {
      const message = 'The last load balancer ended in ERROR; waiting before the next attempt';
      return { kind: 'pending', message, retryAfterMs: restMs };
    }
    context.recordEvent('KuryrEnsureLB', 'Provisioning a load balancer');
    const balancer = await this.#maker.make(wanted, owner, this.#marks(owner), context);
    if (balancer === undefined) {
      const message = 'The controller creates the load balancer one listener after another';
      return { kind: 'pending', message, retryAfterMs: 1 };
    }
    this.#serving.learn(wanted.provider, balancer.provider);
    const observed = this.#options.inventory.putBare(balancer);
    return this.#await(observed, klb, 'The load balancer is being created', context);
  }

  /** Returns the load balancer if it is busy with an earlier change. The caller waits for that. */
  async #change(
    klb: KuryrLoadBalancer,
    owner: Owner,
    wanted: WantedBalancer,
    observed: ObservedBalancer,
    plan: ChangePlan,
    context: ProviderContext,
  ): Promise<ObservedBalancer | undefined> {
    const { balancing, inventory, pendingChanges } = this.#options;
    const { id } = observed.balancer;
    let basis = observed;
    let changes = plan;
    if (isPending(observed.balancer)) return observed;
    if (!isMembersOnly(plan)) {
      // The cached state may be old. Only members are changed without a fresh read.
      const fresh = await inventory.read(id, context);
      if (fresh === undefined) return undefined;
      if (isPending(fresh.balancer)) return fresh;
      const decision = this.#decide(klb, owner, wanted, fresh);
      if (decision.kind !== 'change') return undefined;
      basis = fresh;
      changes = decision.plan;
      recordMissing(klb, fresh, context);
    }
    try {
      const call = { signal: context.signal, deadlineMs: lockPatienceMs };
      const applied = await applyPlan(balancing, basis, changes, call);
      inventory.put(applied.observed);
      this.#refused.record(klb, applied, context);
      pendingChanges.watch(id, keyOf(klb));
      return undefined;
    } catch (error) {
      // The change may be partly done, so the cached state is not reliable.
      inventory.distrust(id);
      const isLate = isErrorCode(error, 'timeout') && !context.signal.aborted;
      const now = isLate ? await inventory.read(id, context) : undefined;
      if (now === undefined || !isPending(now.balancer)) throw error;
      return now;
    }
  }

  /** Deletes the whole load balancer. A new one is created after the deletion. */
  async #replace(
    observed: ObservedBalancer,
    klb: KuryrLoadBalancer,
    owner: Owner,
    { reason, message }: { readonly reason: EventReason; readonly message: string },
    context: ProviderContext,
  ): Promise<Kept> {
    const { balancing, inventory } = this.#options;
    const { id, provisioningStatus } = observed.balancer;
    const restMs = this.#pace.restMs(owner.uid);
    if (provisioningStatus === 'ERROR' && restMs > 0) {
      const again = 'The load balancer ended in ERROR again; waiting before the next deletion';
      return { kind: 'pending', message: again, observed, retryAfterMs: restMs };
    }
    const current = await inventory.read(id, context);
    if (current !== undefined && isPending(current.balancer)) {
      return this.#busy(current, klb, context);
    }
    if (current !== undefined && provisioningStatus === 'ERROR' && !this.#maker.losesChildren) {
      if (current.balancer.provisioningStatus !== 'ERROR') {
        return this.#await(current, klb, 'The load balancer has left ERROR', context);
      }
      this.#pace.failed(owner.uid);
    }
    context.recordEvent(reason, message);
    if (current === undefined) return { kind: 'pending', message, retryAfterMs: 1 };
    await balancing.deleteLoadBalancer(id, { signal: context.signal, cascade: true });
    const leaving = { ...current.balancer, provisioningStatus: 'PENDING_DELETE' as const };
    return this.#await(inventory.putBare(leaving), klb, message, context);
  }

  /** The load balancer serves its former state. Only the change has to wait. */
  #busy(observed: ObservedBalancer, klb: KuryrLoadBalancer, context: ProviderContext): Kept {
    const message = 'The load balancer is busy with an earlier change';
    const { kind } = this.#await(observed, klb, message, context);
    return { kind, message };
  }

  #await(
    observed: ObservedBalancer,
    klb: KuryrLoadBalancer,
    message: string,
    context: ProviderContext,
  ): Extract<Kept, { kind: 'pending' }> {
    const { pendingChanges } = this.#options;
    recordOverdue(pendingChanges, observed, context);
    pendingChanges.watch(observed.balancer.id, keyOf(klb));
    return { kind: 'pending', message, observed };
  }
}
