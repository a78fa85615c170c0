import type { KubeObject } from '../object.ts';
import type { GroupResource } from '../resource-definition.ts';
import type { Pod } from '../resources/pod/pod-type.ts';
import type { Change, ObjectStore } from '../store.ts';
import { keyOf, type ControllerSetting } from './store-controller.ts';

/** Dependencies of workload controllers. */
export interface WorkloadSetting extends ControllerSetting {
  readonly controlled: ControlledObjects;
}

const resources = ['pods', 'replicasets.apps', 'controllerrevisions.apps'] as const;

type Controlled = (typeof resources)[number];

/**
 * Index of controlled objects by controller, updated from the store. A controller with ten pods finds them
 * without a scan of the ten thousand pods in its namespace.
 */
export class ControlledObjects {
  /** Keyed by resource and controller, or by resource and namespace for objects without a controller. */
  readonly #groups = new Map<string, Map<string, KubeObject>>();
  readonly #subscriptions: readonly { close(): void }[];

  constructor(store: ObjectStore) {
    this.#subscriptions = resources.map((resource) => {
      for (const object of store.list(resource)) this.#add(resource, object);
      return store.watch(resource, store.version, (change) => this.#follow(resource, change));
    });
  }

  /** The objects that the owner controls, sorted by name. */
  of(resource: Controlled, owner: KubeObject): KubeObject[] {
    return this.#group(`${resource} ${owner.metadata.uid}`);
  }

  /** The objects of a namespace without a controller. */
  free(resource: Controlled, namespace: string | undefined): KubeObject[] {
    return this.#group(`${resource} /${namespace ?? ''}`);
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.close();
  }

  #group(key: string): KubeObject[] {
    return [...(this.#groups.get(key)?.values() ?? [])].sort((left, right) =>
      left.metadata.name < right.metadata.name ? -1 : 1,
    );
  }

  #follow(resource: GroupResource, { type, object, previous }: Change): void {
    if (previous !== undefined) this.#remove(resource, previous);
    if (type !== 'DELETED') this.#add(resource, object);
  }

  #add(resource: GroupResource, object: KubeObject): void {
    const key = groupOf(resource, object);
    const group = this.#groups.get(key) ?? new Map<string, KubeObject>();
    group.set(keyOf(object), object);
    this.#groups.set(key, group);
  }

  #remove(resource: GroupResource, object: KubeObject): void {
    const key = groupOf(resource, object);
    const group = this.#groups.get(key);
    group?.delete(keyOf(object));
    if (group?.size === 0) this.#groups.delete(key);
  }
}

function groupOf(resource: GroupResource, { metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return `${resource} ${owner?.uid ?? `/${metadata.namespace ?? ''}`}`;
}

export function ownPods({ controlled }: WorkloadSetting, owner: KubeObject): Pod[] {
  return controlled.of('pods', owner).map((pod) => pod as Pod);
}
