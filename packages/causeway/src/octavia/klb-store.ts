import type { KubeClient } from '@causeway/kubernetes/client/client';
import { isErrorCode } from '@causeway/base/error/causeway-error';
import { KubeError } from '@causeway/kubernetes/client/error';
import { keyOf, nameFromKey, type OwnerReference } from '@causeway/kubernetes/objects/object';
import { endpoints } from '@causeway/kubernetes/objects/resources';
import { OwnWrites } from '@causeway/kubernetes/cache/own-writes';
import { withSlimMetadata } from '@causeway/kubernetes/cache/projection';
import { Reflector } from '@causeway/kubernetes/cache/reflector';
import { compareResourceVersions } from '@causeway/kubernetes/cache/resource-version';
import { Store, type Change } from '@causeway/kubernetes/cache/store';
import type { Clock } from '@causeway/base/time/clock';
import type { Log } from '@causeway/base/observability/log';
import type { Metrics } from '@causeway/base/observability/metrics';
import type { Owner } from '../services/provider.ts';
import { ownerKey, type FrontendOwner } from '../services/frontend-spec.ts';
import {
  klbFinalizer,
  kuryrLoadBalancers,
  ownerUid,
  type KlbSpec,
  type KlbStatus,
  type KuryrLoadBalancer,
} from './kuryr-load-balancer.ts';
import { mergePatch } from './merge-patch.ts';

export interface KlbStoreOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

const fieldManager = 'causeway-controller';
const kuryrPrefix = 'kuryr.openstack.org/';

/**
 * The current KuryrLoadBalancers: from the watch, or from an own write that the watch has not delivered yet.
 * Acting on an older object could create a second load balancer. Each write names its base version, and
 * unchanged objects are not written.
 */
export class KlbStore {
  readonly #client: KubeClient;
  readonly #store: Store<KuryrLoadBalancer, 'balancer' | 'address'>;
  readonly #reflector: Reflector<KuryrLoadBalancer, KuryrLoadBalancer, 'balancer' | 'address'>;
  readonly #written = new Map<string, KuryrLoadBalancer>();
  readonly #ownWrites: OwnWrites<KuryrLoadBalancer>;

  constructor(options: KlbStoreOptions) {
    this.#client = options.client;
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

  *owners(): Iterable<Owner> {
    for (const klb of this.all()) {
      const owner = klbOwner(klb);
      if (owner !== undefined) yield owner;
    }
  }

  /** The Service's part and the endpoints' part of the spec. Both come from one translation. */
  async writeSpec(
    owner: FrontendOwner,
    spec: KlbSpec,
    signal: AbortSignal,
  ): Promise<KuryrLoadBalancer> {
    const { namespace, name } = owner;
    const key = ownerKey(owner);
    const reference = ownerReference(owner);
    const present = this.get(key);
    if (present === undefined) {
      const metadata = {
        namespace,
        name,
        finalizers: [klbFinalizer],
        ownerReferences: [reference],
      };
      return this.#create({ metadata, spec }, signal);
    }
    const { finalizers = [], ownerReferences = [] } = present.metadata ?? {};
    const metadata = {
      ...(finalizers.includes(klbFinalizer) ? {} : { finalizers: [...finalizers, klbFinalizer] }),
      ...(ownerReferences.some(({ uid }) => uid === owner.uid)
        ? {}
        : {
            ownerReferences: [
              ...ownerReferences.filter(({ kind }) => kind !== owner.kind),
              reference,
            ],
          }),
    };
    const change = mergePatch(present.spec ?? {}, spec);
    if (change === undefined && Object.keys(metadata).length === 0) return present;
    return this.#patch(
      present,
      { metadata, ...(change === undefined ? {} : { spec: change }) },
      signal,
    );
  }

  /** Endpoints that exist before their Service. They are stored where the Service's part will find them. */
  async writeEndpointsOnly(key: string, spec: KlbSpec, signal: AbortSignal): Promise<void> {
    const present = this.get(key);
    if (present === undefined) {
      await this.#create({ metadata: { ...nameFromKey(key) }, spec }, signal);
      return;
    }
    const change = mergePatch(present.spec ?? {}, spec);
    if (change !== undefined) await this.#patch(present, { spec: change }, signal);
  }

  async writeStatus(
    klb: KuryrLoadBalancer,
    status: KlbStatus,
    signal: AbortSignal,
  ): Promise<KuryrLoadBalancer> {
    const change = mergePatch(klb.status ?? {}, status);
    if (change === undefined) return klb;
    return this.#patch(klb, { status: change }, signal, 'status');
  }

  /** Removes the finalizer and deletes the object, unless it is being deleted already. */
  async remove(klb: KuryrLoadBalancer, signal: AbortSignal): Promise<void> {
    const { finalizers = [], deletionTimestamp, uid } = klb.metadata ?? {};
    const name = nameFromKey(keyOf(klb));
    let current = klb;
    try {
      if (finalizers.includes(klbFinalizer)) {
        const rest = finalizers.filter((finalizer) => finalizer !== klbFinalizer);
        current = await this.#patch(klb, { metadata: { finalizers: rest } }, signal);
      }
      if (deletionTimestamp === undefined && uid !== undefined) {
        await this.#client.delete(kuryrLoadBalancers, name, { signal, preconditions: { uid } });
      }
    } catch (error) {
      if (!isErrorCode(error, 'not-found')) throw error;
    }
    this.#written.delete(keyOf(current));
  }

  /** Kuryr also put a finalizer on the Endpoints. The spec has their content, so they need not stay. */
  async releaseEndpoints(key: string, signal: AbortSignal): Promise<void> {
    const name = nameFromKey(key);
    const present = await this.#client.find(endpoints, name, { signal });
    const { finalizers = [], resourceVersion } = present?.metadata ?? {};
    const rest = finalizers.filter((finalizer) => !finalizer.startsWith(kuryrPrefix));
    if (rest.length === finalizers.length) return;
    const metadata = { resourceVersion, finalizers: rest };
    await this.#client.patchMerge(endpoints, name, { metadata }, { signal, fieldManager });
  }

  #create(klb: KuryrLoadBalancer, signal: AbortSignal): Promise<KuryrLoadBalancer> {
    return this.#write(keyOf(klb), () =>
      this.#client.create(kuryrLoadBalancers, klb, { signal, fieldManager }),
    );
  }

  #patch(
    klb: KuryrLoadBalancer,
    patch: { readonly metadata?: object; readonly spec?: object; readonly status?: object },
    signal: AbortSignal,
    subresource?: 'status',
  ): Promise<KuryrLoadBalancer> {
    const { resourceVersion, uid } = klb.metadata ?? {};
    const key = keyOf(klb);
    return this.#write(key, () =>
      this.#client.patchMerge(
        kuryrLoadBalancers,
        nameFromKey(key),
        { ...patch, metadata: { resourceVersion, uid, ...patch.metadata } },
        { signal, fieldManager, ...(subresource === undefined ? {} : { subresource }) },
      ),
    );
  }

  /** Sends an own write. The caller continues with the answer, so the change needs no reconcile. */
  async #write(key: string, work: () => Promise<KuryrLoadBalancer>): Promise<KuryrLoadBalancer> {
    const klb = await this.#ownWrites.write(key, work);
    this.#written.set(key, withSlimMetadata(klb));
    return klb;
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

/** The delay before the next attempt after a conflict. The watch delivers the other client's change. */
export const conflictMs = 200;

/** Whether another client wrote to the same object. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubeError && error.code === 'conflict';
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

function ownerReference({ kind, name, uid }: FrontendOwner): OwnerReference {
  return { apiVersion: 'v1', kind, name, uid };
}
