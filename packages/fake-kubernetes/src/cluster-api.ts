import type { KubeObject } from './object.ts';
import type { GroupResource, ResourceDefinition } from './resource-definition.ts';
import type { ObjectStore } from './store.ts';

export interface WriteOptions {
  readonly dryRun?: boolean;
  /** Who is writing, for `managedFields`. */
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
 * What the API does, without HTTP: every write is defaulted, validated, versioned and told to watchers
 * before the call returns, all synchronously. The built-in controllers read from `store` and write here.
 * Refusals are thrown as ApiErrors.
 */
export interface ClusterApi {
  readonly store: ObjectStore;
  /** The served definition of a resource (`deployments.apps`), built in or from a CRD. */
  definition(resource: GroupResource): ResourceDefinition | undefined;
  definitions(): readonly ResourceDefinition[];
  /** `metadata` needs a name or a generateName, and a namespace where the resource has them. */
  create(resource: GroupResource, object: NewObject, options?: WriteOptions): KubeObject;
  /** With a resourceVersion in `metadata` only if that is still the stored one, else 409. */
  update(resource: GroupResource, object: KubeObject, options?: UpdateOptions): KubeObject;
  /** Deletes, or marks for deletion while there are finalizers. The object as it was left. */
  delete(
    resource: GroupResource,
    namespace: string | undefined,
    name: string,
    options?: DeleteOptions,
  ): KubeObject;
}

/** An object that is not stored yet: the server sets the rest of its metadata. */
export interface NewObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Partial<KubeObject['metadata']>;
  readonly [field: string]: unknown;
}
