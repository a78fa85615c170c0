import { isLocked, isPending } from '@causeway/openstack/load-balancing/lock';
import type { Clock } from '@causeway/base/time/clock';
import type { Random } from '@causeway/base/simulation/random';
import { ownerKey, type FrontendSpec } from '../services/frontend-spec.ts';
import type { DeleteOutcome, Owner, ProviderContext } from '../services/provider.ts';
import { applyPlan } from './apply-plan.ts';
import type { BalancerKeeper } from './balancer-keeper.ts';
import { ErrorPace } from './error-pace.ts';
import { sharedBalancerOn, ownPart } from './shared-balancer.ts';
import { recordOverdue } from './record-balancer-events.ts';
import { conflictMs, isConflict } from './klb-store.ts';
import { keepsFloatingIp } from './klb-spec.ts';
import { ownerUid, type KuryrLoadBalancer } from './kuryr-load-balancer.ts';
import type { ObservedBalancer } from './observed.ts';
import type { PendingChanges } from './pending-changes.ts';
import type { OctaviaState } from './state.ts';

export interface ReleaseOptions extends OctaviaState {
  readonly pendingChanges: PendingChanges;
  readonly keeper: BalancerKeeper;
  readonly clock: Clock;
  readonly random: Random;
}

/** What happens to a floating IP from the pool. `stays`: the Service continues and will use it again. */
export type AddressFate = 'given-back' | 'kept' | 'stays';

const gone: DeleteOutcome = { kind: 'gone' };
const mostRemembered = 10_000;

/**
 * Deletes the objects of a Service: in OpenStack the floating IP first, so that no client is sent there, and
 * then the KuryrLoadBalancer.
 */
export class Release {
  readonly #options: ReleaseOptions;
  readonly #pace: ErrorPace;
  /** The UIDs of the Services that were released recently. */
  readonly #released = new Set<string>();

  constructor(options: ReleaseOptions) {
    this.#options = options;
    this.#pace = new ErrorPace(options.clock, options.random);
  }

  /**
   * Deletes everything. `frontend` is the current one: a request to keep the floating IP right before the
   * deletion is in no spec yet.
   */
  ensureDeleted(
    owner: Owner,
    frontend: FrontendSpec | undefined,
    context: ProviderContext,
  ): Promise<DeleteOutcome> {
    const said = frontend?.owner.uid === owner.uid ? keepsFloatingIp(frontend) : undefined;
    const isKept = said ?? this.#klbOf(owner)?.spec?.options?.keep_floating_ip === true;
    return this.release(owner, isKept ? 'kept' : 'given-back', context);
  }

  async release(owner: Owner, fate: AddressFate, context: ProviderContext): Promise<DeleteOutcome> {
    const { klbs, cluster } = this.#options;
    cluster.drop(ownerKey(owner));
    const klb = this.#klbOf(owner);
    const outcome = await this.#releaseCloudObjects(owner, klb, fate, context);
    if (outcome.kind === 'pending') return outcome;
    try {
      if (klb !== undefined) await klbs.remove(klb, context.signal);
      await klbs.releaseEndpoints(ownerKey(owner), context.signal);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const message = 'Another client changed the object';
      return { kind: 'pending', message, retryAfterMs: conflictMs };
    }
    return outcome;
  }

  #klbOf(owner: Owner): KuryrLoadBalancer | undefined {
    const present = this.#options.klbs.get(ownerKey(owner));
    const isTheirs = present !== undefined && (ownerUid(present) ?? owner.uid) === owner.uid;
    return isTheirs ? present : undefined;
  }

  async #releaseCloudObjects(
    owner: Owner,
    klb: KuryrLoadBalancer | undefined,
    fate: AddressFate,
    context: ProviderContext,
  ): Promise<DeleteOutcome> {
    const balancers = await this.#balancersOf(owner, klb, context);
    if (fate === 'stays') await this.#holdAddress(owner, klb, context);
    else await this.#releaseAddresses(owner, klb, fate === 'kept', context);
    let outcome = gone;
    for (const observed of balancers) {
      const result = await this.#releaseBalancer(observed, owner, klb, context);
      if (result.kind === 'pending') outcome = result;
    }
    if (outcome.kind === 'gone') {
      this.#options.keeper.drop(owner);
      this.#pace.drop(owner.uid);
      if (fate !== 'stays') this.#noteReleased(owner);
    }
    return outcome;
  }

  /**
   * Whether this process has released the Service completely. Objects that appear in the cloud later come
   * from a late request of this process, and are no orphans with an unknown owner.
   */
  hasReleased({ uid }: Owner): boolean {
    return this.#released.has(uid);
  }

  #noteReleased({ uid }: Owner): void {
    this.#released.add(uid);
    const [oldest] = this.#released;
    if (this.#released.size > mostRemembered && oldest !== undefined) this.#released.delete(oldest);
  }

  /** The recorded load balancer, and all others that were created for this Service. */
  async #balancersOf(
    owner: Owner,
    klb: KuryrLoadBalancer | undefined,
    context: ProviderContext,
  ): Promise<ObservedBalancer[]> {
    const { inventory, identity } = this.#options;
    const found = new Map<string, ObservedBalancer>();
    for (const observed of inventory.named(ownerKey(owner))) {
      if (identity.isMarkedFor(owner, observed.balancer)) {
        found.set(observed.balancer.id, observed);
      }
    }
    const recorded = klb?.status?.loadbalancer?.id;
    if (recorded !== undefined && !found.has(recorded)) {
      const observed = await inventory.current(recorded, context);
      const isOthers = observed !== undefined && identity.isOfOtherCluster(observed.balancer);
      if (observed !== undefined && !isOthers) found.set(recorded, observed);
    }
    return [...found.values()];
  }

  /** Only the status names an address that Kuryr allocated. With a mark, it is found without the status. */
  async #holdAddress(
    owner: Owner,
    klb: KuryrLoadBalancer | undefined,
    context: ProviderContext,
  ): Promise<void> {
    const { service_pub_ip_info: recorded, loadbalancer } = klb?.status ?? {};
    if (recorded?.alloc_method !== 'pool') return;
    const request = { owner, portId: loadbalancer?.port_id ?? '' };
    await this.#options.floating.hold(request, recorded, context);
  }

  async #releaseAddresses(
    owner: Owner,
    klb: KuryrLoadBalancer | undefined,
    isKept: boolean,
    context: ProviderContext,
  ): Promise<void> {
    const { floating, klbs } = this.#options;
    const recorded = klb?.status?.service_pub_ip_info;
    const portId = klb?.status?.loadbalancer?.port_id ?? '';
    const request = { owner, portId, events: context };
    const isStillUsed = (id: string) => klbs.usersOfAddress(id, ownerKey(owner)).length > 0;
    if (recorded !== undefined && !isStillUsed(recorded.ip_id)) {
      await floating.release(request, recorded, isKept, context);
    }
    for (const { id, address } of floating.of(owner)) {
      if (id === recorded?.ip_id || isStillUsed(id)) continue;
      const info = { ip_id: id, ip_addr: address, alloc_method: 'pool' } as const;
      await floating.release(request, info, isKept, context);
    }
  }

  async #releaseBalancer(
    observed: ObservedBalancer,
    owner: Owner,
    klb: KuryrLoadBalancer | undefined,
    context: ProviderContext,
  ): Promise<DeleteOutcome> {
    const { pendingChanges, klbs, identity } = this.#options;
    const { id } = observed.balancer;
    const key = ownerKey(owner);
    recordOverdue(pendingChanges, observed, context, 'DeleteLoadBalancerFailed');
    if (!isPending(observed.balancer)) {
      // Checks the others, because this KuryrLoadBalancer may be deleted already.
      const hasOthers = klbs.sharers(id, key).length > 0;
      const given = klb?.spec?.options?.loadbalancer_id;
      const wasGiven = given === id || klb?.status?.loadbalancer?.given === true;
      // A load balancer that was created for one of the sharing Services is deleted with the last of them.
      const isOurs =
        identity.isMadeFor(owner, observed.balancer, wasGiven) ||
        (wasGiven && identity.standing(observed.balancer) === 'own');
      if (hasOthers || !isOurs) return this.#releaseListeners(observed, owner, klb, context);
      const restMs = this.#pace.restMs(owner.uid);
      if (observed.balancer.provisioningStatus === 'ERROR' && restMs > 0) {
        return {
          kind: 'pending',
          message: 'Waiting before the load balancer is deleted again',
          retryAfterMs: restMs,
        };
      }
      if ((await this.#deleteBalancer(observed, owner, context)) === 'absent') return gone;
    }
    pendingChanges.watch(id, key);
    return {
      kind: 'pending',
      message: 'Waiting for the deletion of the load balancer',
      retryAfterMs: 30_000,
    };
  }

  async #deleteBalancer(
    { balancer }: ObservedBalancer,
    owner: Owner,
    context: ProviderContext,
  ): Promise<'absent' | 'leaving' | 'busy'> {
    const { balancing, inventory } = this.#options;
    const { id, provisioningStatus } = balancer;
    if (provisioningStatus === 'ERROR' && this.#pace.failed(owner.uid) > 1) {
      const message = `The load balancer ${id} ended in ERROR during its deletion. The controller deletes it again.`;
      context.recordEvent('DeleteLoadBalancerFailed', message);
    } else {
      context.recordEvent('KuryrReleaseLB', 'Releasing the load balancer');
    }
    try {
      const call = { signal: context.signal, cascade: true };
      if ((await balancing.deleteLoadBalancer(id, call)) === 'absent') {
        inventory.drop(id);
        return 'absent';
      }
    } catch (error) {
      // Busy with another change: the controller waits for its end and tries again.
      if (!isLocked(error)) throw error;
      return 'busy';
    }
    inventory.putBare({ ...balancer, provisioningStatus: 'PENDING_DELETE' });
    return 'leaving';
  }

  /** Releases the Service's listeners on a load balancer that others use too. The load balancer stays. */
  async #releaseListeners(
    observed: ObservedBalancer,
    owner: Owner,
    klb: KuryrLoadBalancer | undefined,
    context: ProviderContext,
  ): Promise<DeleteOutcome> {
    const { balancing, inventory, identity } = this.#options;
    const { id } = observed.balancer;
    const fresh = await inventory.read(id, context);
    if (fresh === undefined) return gone;
    const prefix = `${owner.namespace}/${owner.name}:`;
    const isOurs = ({ name }: { name: string }) => name.startsWith(prefix);
    const own = ownPart(fresh, sharedBalancerOn(fresh, klb, owner, identity));
    const plan = {
      balancer: undefined,
      removeListeners: own.listeners.filter(isOurs).map((listener) => listener.id),
      removePools: own.pools.filter(isOurs).map((pool) => pool.id),
      listeners: [],
    };
    inventory.put((await applyPlan(balancing, fresh, plan, context)).observed);
    return gone;
  }
}
