import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { keyOf, nameFromKey, type OwnerReference } from '@causeway/kubernetes/objects/object';
import { endpoints } from '@causeway/kubernetes/objects/resources';
import { ownerKey, type FrontendOwner } from '../services/frontend-spec.ts';
import type { KlbView } from './klb-view.ts';
import {
  klbFinalizer,
  kuryrLoadBalancers,
  type KlbSpec,
  type KlbStatus,
  type KuryrLoadBalancer,
} from './kuryr-load-balancer.ts';
import { mergePatch } from './merge-patch.ts';

const fieldManager = 'causeway-controller';
const kuryrPrefix = 'kuryr.openstack.org/';

/** Writes KuryrLoadBalancers. Each write names its base version, and unchanged objects are not written. */
export class KlbWriter {
  readonly #client: KubeClient;
  readonly #view: KlbView;

  constructor(client: KubeClient, view: KlbView) {
    this.#client = client;
    this.#view = view;
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
    const present = this.#view.get(key);
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
    const present = this.#view.get(key);
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
    this.#view.removed(keyOf(current));
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
    return this.#view.write(keyOf(klb), () =>
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
    return this.#view.write(key, () =>
      this.#client.patchMerge(
        kuryrLoadBalancers,
        nameFromKey(key),
        { ...patch, metadata: { resourceVersion, uid, ...patch.metadata } },
        { signal, fieldManager, ...(subresource === undefined ? {} : { subresource }) },
      ),
    );
  }
}

function ownerReference({ kind, name, uid }: FrontendOwner): OwnerReference {
  return { apiVersion: 'v1', kind, name, uid };
}
