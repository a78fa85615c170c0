import { done, type Outcome } from '@causeway/base/work/controller';
import type { KubeObject, OwnerReference } from '../object.ts';
import { groupResource, type GroupResource } from '../resource-definition.ts';
import { OwnerIndex } from './owner-index.ts';
import type { ControllerSetting, StoreController } from './store-controller.ts';

/** `resource|namespace|name`. Objects of all resources share one queue. */
type ObjectKey = string;

const keyOf = (resource: GroupResource, { metadata }: KubeObject): ObjectKey =>
  `${resource}|${metadata.namespace ?? ''}|${metadata.name}`;

/**
 * Deletes objects without owners.
 * - An object is deleted when all its owners are deleted.
 * - A foreground deletion waits for dependents with `blockOwnerDeletion`.
 * - A deletion with `Orphan` first removes the owner from its dependents.
 */
export function garbageCollector(setting: ControllerSetting): StoreController {
  const index = new OwnerIndex();
  const collector = new Collector(setting, index);
  return {
    name: 'garbagecollector',
    *follows(resource, { type, object }) {
      const key = keyOf(resource, object);
      const isGone = type === 'DELETED';
      const owners = index.set(key, isGone ? [] : (object.metadata.ownerReferences ?? []));
      yield* index.dependents(object.metadata.uid);
      // A foreground deletion waits for dependents, so a change of a dependent queues its previous owners.
      for (const uid of owners) yield index.keyOf(uid) ?? key;
      index.name(object.metadata.uid, isGone ? undefined : key);
      if (!isGone) yield key;
    },
    reconcile: (key) => collector.reconcile(key),
  };
}

class Collector {
  readonly #setting: ControllerSetting;
  readonly #index: OwnerIndex;

  constructor(setting: ControllerSetting, index: OwnerIndex) {
    this.#setting = setting;
    this.#index = index;
  }

  reconcile(key: ObjectKey): Outcome {
    const found = this.#get(key);
    if (found === undefined) return done;
    const { resource, object } = found;
    const finalizers = object.metadata.finalizers ?? [];
    if (object.metadata.deletionTimestamp !== undefined) {
      if (finalizers.includes('orphan')) this.#orphan(resource, object);
      else if (finalizers.includes('foregroundDeletion')) this.#foreground(resource, object);
      return done;
    }
    this.#collect(resource, object);
    return done;
  }

  #get(key: ObjectKey): { resource: GroupResource; object: KubeObject } | undefined {
    const [resource = '', namespace = '', name = ''] = key.split('|');
    const object = this.#setting.api.store.get(
      resource,
      namespace === '' ? undefined : namespace,
      name,
    );
    return object === undefined ? undefined : { resource, object };
  }

  #collect(resource: GroupResource, object: KubeObject): void {
    const references = object.metadata.ownerReferences ?? [];
    if (references.length === 0) return;
    const owners = references.map((reference) => this.#owner(reference, object));
    if (owners.some((owner) => owner === 'unknown')) return;
    const staying = references.filter((_, place) => isStaying(owners[place]));
    const leaving = references.filter((_, place) => isWaiting(owners[place]));
    const { name, namespace, uid } = object.metadata;
    if (staying.length > 0) {
      if (staying.length < references.length) {
        const draft = structuredClone(object);
        draft.metadata.ownerReferences = staying;
        this.#setting.api.update(resource, draft);
      }
      return;
    }
    // If an owner waits for this object, the deletion also waits for the object's own dependents.
    const hasOwn = this.#index.dependents(uid).length > 0;
    const propagationPolicy = leaving.length > 0 && hasOwn ? 'Foreground' : 'Background';
    this.#setting.api.delete(resource, namespace, name, {
      propagationPolicy,
      preconditions: { uid },
    });
  }

  /** The owner; `undefined` if it is deleted, `unknown` if its kind is not served. */
  #owner(reference: OwnerReference, dependent: KubeObject): KubeObject | 'unknown' | undefined {
    const { api } = this.#setting;
    const [version = '', group = ''] = reference.apiVersion.split('/').reverse();
    const definition = api
      .definitions()
      .find((one) => one.group === group && one.kind === reference.kind);
    if (definition === undefined || version === '') return 'unknown';
    const namespace = definition.namespaced ? dependent.metadata.namespace : undefined;
    const owner = api.store.get(groupResource(definition), namespace, reference.name);
    return owner?.metadata.uid === reference.uid ? owner : undefined;
  }

  #dependents(owner: KubeObject): { resource: GroupResource; object: KubeObject }[] {
    return this.#index
      .dependents(owner.metadata.uid)
      .map((key) => this.#get(key))
      .filter((found) => found !== undefined);
  }

  #orphan(resource: GroupResource, owner: KubeObject): void {
    for (const { resource: of, object } of this.#dependents(owner)) {
      const draft = structuredClone(object);
      const rest = (draft.metadata.ownerReferences ?? []).filter(
        ({ uid }) => uid !== owner.metadata.uid,
      );
      draft.metadata.ownerReferences = rest;
      this.#setting.api.update(of, draft);
    }
    this.#removeFinalizer(resource, owner, 'orphan');
  }

  #foreground(resource: GroupResource, owner: KubeObject): void {
    const blocking = this.#dependents(owner).filter(({ object }) =>
      (object.metadata.ownerReferences ?? []).some(
        ({ uid, blockOwnerDeletion }) => uid === owner.metadata.uid && blockOwnerDeletion === true,
      ),
    );
    for (const { resource: of, object } of this.#dependents(owner)) {
      if (object.metadata.deletionTimestamp === undefined) this.#collect(of, object);
    }
    if (blocking.length === 0) this.#removeFinalizer(resource, owner, 'foregroundDeletion');
  }

  #removeFinalizer(resource: GroupResource, owner: KubeObject, finalizer: string): void {
    const { name, namespace } = owner.metadata;
    const latest = this.#setting.api.store.get(resource, namespace, name);
    if (latest?.metadata.uid !== owner.metadata.uid) return;
    const draft = structuredClone(latest);
    draft.metadata.finalizers = (draft.metadata.finalizers ?? []).filter(
      (one) => one !== finalizer,
    );
    this.#setting.api.update(resource, draft);
  }
}

type Owner = KubeObject | 'unknown' | undefined;

function isWaiting(owner: Owner): boolean {
  if (owner === undefined || owner === 'unknown') return false;
  const { deletionTimestamp, finalizers = [] } = owner.metadata;
  return deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion');
}

const isStaying = (owner: Owner) => owner !== undefined && !isWaiting(owner);
