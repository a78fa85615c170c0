import type { KubeClient } from '@causeway/kubernetes/client/client';
import { keyOf } from '@causeway/kubernetes/objects/object';
import { OwnWrites } from '@causeway/kubernetes/cache/own-writes';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { compareResourceVersions } from '@causeway/kubernetes/cache/resource-version';
import { Store, type Change } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Owner } from '../services/provider.ts';
import { kuryrLoadBalancers, ownerUid, type KuryrLoadBalancer } from './kuryr-load-balancer.ts';

export interface KlbViewOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * The current KuryrLoadBalancers: from the watch, or from an own write that the watch has not delivered yet.
 * Acting on an older object could create a second load balancer.
 */
export class KlbView {
  readonly #store: Store<KuryrLoadBalancer, 'balancer' | 'address'>;
  readonly #reflector: Reflector<KuryrLoadBalancer, KuryrLoadBalancer, 'balancer' | 'address'>;
  readonly #written = new Map<string, KuryrLoadBalancer>();
  readonly #ownWrites: OwnWrites<KuryrLoadBalancer>;

  constructor(options: KlbViewOptions) {
    this.#store = new Store<KuryrLoadBalancer, 'balancer' | 'address'>({
      log: options.log,
      indexes: {
        balancer: balancersOf,
        address: ({ status }) =>
          status?.service_pub_ip_info === undefined ? [] : [status.service_pub_ip_info.ip_id],
      },
    });
    this.#reflector = new Reflector({
      ...options,
      resource: kuryrLoadBalancers,
      store: this.#store,
      projection: withSlimMetadata,
    });
    this.#store.onChange((change) => this.#seen(change));
    this.#ownWrites = new OwnWrites(this.#store);
  }

  get synced(): Promise<void> {
    return this.#store.synced;
  }

  readiness(): string | undefined {
    return this.#reflector.readiness();
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#reflector.run(signal);
  }

  onChange(handler: (change: Change<KuryrLoadBalancer>) => void): () => void {
    return this.#store.onChange(handler);
  }

  /** Calls back for each change except the controller's own writes; see OwnWrites. */
  onForeignChange(handler: (change: Change<KuryrLoadBalancer>) => void): () => void {
    return this.#ownWrites.onForeignChange(handler);
  }

  get(key: string): KuryrLoadBalancer | undefined {
    const watched = this.#store.get(key);
    const written = this.#written.get(key);
    if (written === undefined) return watched;
    return watched !== undefined && !isOlder(watched, written) ? watched : written;
  }

  *all(): Iterable<KuryrLoadBalancer> {
    const keys = new Set([...this.#store.keys(), ...this.#written.keys()]);
    for (const key of keys) {
      const klb = this.get(key);
      if (klb !== undefined) yield klb;
    }
  }

  /** The other KuryrLoadBalancers that use this load balancer, or are about to. */
  sharers(balancerId: string, besides: string): KuryrLoadBalancer[] {
    const watched = this.#store.byIndex('balancer', balancerId);
    const written = [...this.#written.values()].filter((klb) =>
      balancersOf(klb).includes(balancerId),
    );
    return [...watched, ...written].filter(
      (klb) => keyOf(klb) !== besides && klb.metadata?.deletionTimestamp === undefined,
    );
  }

  /** The other KuryrLoadBalancers that use this floating IP. */
  usersOfAddress(ipId: string, besides: string): KuryrLoadBalancer[] {
    return this.#store.byIndex('address', ipId).filter((klb) => keyOf(klb) !== besides);
  }

  /** Sends an own write. The caller continues with the answer, so the change needs no reconcile. */
  async write(key: string, work: () => Promise<KuryrLoadBalancer>): Promise<KuryrLoadBalancer> {
    const klb = await this.#ownWrites.write(key, work);
    this.#written.set(key, withSlimMetadata(klb));
    return klb;
  }

  removed(key: string): void {
    this.#written.delete(key);
  }

  *owners(): Iterable<Owner> {
    for (const klb of this.all()) {
      const owner = klbOwner(klb);
      if (owner !== undefined) yield owner;
    }
  }

  #seen(change: Change<KuryrLoadBalancer>): void {
    const written = this.#written.get(change.key);
    if (written === undefined) return;
    if (change.type === 'deleted') {
      if (change.before.metadata?.uid === written.metadata?.uid) this.#written.delete(change.key);
      return;
    }
    if (!isOlder(change.after, written)) this.#written.delete(change.key);
  }
}

/** The load balancers in its status and spec. */
export function balancersOf({ spec, status }: KuryrLoadBalancer): string[] {
  const ids = [status?.loadbalancer?.id, spec?.options?.loadbalancer_id];
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** The owner, by the owner reference. */
export function klbOwner(klb: KuryrLoadBalancer): Owner | undefined {
  const { namespace = '', name = '' } = klb.metadata ?? {};
  const uid = ownerUid(klb);
  return uid === undefined ? undefined : { namespace, name, uid };
}

function isOlder(left: KuryrLoadBalancer, right: KuryrLoadBalancer): boolean {
  const order = compareResourceVersions(
    left.metadata?.resourceVersion ?? '',
    right.metadata?.resourceVersion ?? '',
  );
  return order !== undefined && order < 0;
}
