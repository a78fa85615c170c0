import type { KubeObject } from './object.ts';
import type { GroupResource, ResourceDefinition } from './resource-definition.ts';
import type { ObjectStore } from './store.ts';

export interface WriteOptions {
  readonly dryRun?: boolean;
  /** Field manager of the write, for `managedFields`. */
  readonly fieldManager?: string;
}

export interface UpdateOptions extends WriteOptions {
  readonly subresource?: 'finalize' | 'status';
}

export interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
}

/**
 * The API without HTTP. Before a call returns, each write is defaulted, validated, versioned and sent to
 * watchers, all synchronously. The built-in controllers read from `store` and write here. Rejections are
 * thrown as ApiErrors.
 */
export interface ClusterApi {
  readonly store: ObjectStore;
  /** The served definition of a resource (`deployments.apps`), either built in or from a CRD. */
  definition(resource: GroupResource): ResourceDefinition | undefined;
  definitions(): readonly ResourceDefinition[];
  /** `metadata` needs a name or a generateName, and a namespace if the resource is namespaced. */
  create(resource: GroupResource, object: NewObject, options?: WriteOptions): KubeObject;
  /** If `metadata` contains a resourceVersion that differs from the stored one, throws a 409. */
  update(resource: GroupResource, object: KubeObject, options?: UpdateOptions): KubeObject;
  /** Deletes the object, or marks it for deletion if it has finalizers. Returns the resulting object. */
  delete(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    options?: DeleteOptions,
  ): KubeObject;
}

/** An object before it is stored. The server sets the remaining metadata. */
export interface NewObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<KubeObject['metadata']>;
  readonly [field: string]: unknown;
}
