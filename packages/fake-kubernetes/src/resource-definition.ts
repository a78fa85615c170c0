import type { KubeObject } from './object.ts';
import type { Cause } from './status.ts';

/** One column of `kubectl get`, formatted by the server. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: '' | 'name' | 'int32' | 'int64' | 'date' | 'date-time';
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
  /** The cell's value. `now` is in milliseconds since 1970 and is used for ages. */
  cell(object: KubeObject, now: number): string | number | boolean | null;
}

/** Fields of the `/scale` subresource, as paths of field names. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** Path to a selector: a `LabelSelector`, a map of labels, or text (custom resources). */
  readonly selector?: readonly string[];
}

/**
 * One resource in one version. It contains everything specific to a kind; the server itself is independent of
 * kinds.
 *
 * A write passes these steps in order: pruning by the schema, `defaults`, `prepareCreate` or `prepareUpdate`,
 * `validate`, the store. Hooks get a draft that they can change in place. Hooks run synchronously within one
 * write, so the store doesn't change before the write is committed. A dry run passes the same hooks and is
 * then dropped, so hooks must not keep drafts. Allocators learn about allocations from the store's events.
 */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  /** Set if it differs from the kind with the suffix `List`. */
  readonly listKind?: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /**
   * Whether the resource has `/status`. If so, writes to `/status` change only the status, and other writes
   * don't change it.
   */
  readonly statusSubresource: boolean;
  readonly scale?: ScalePaths;
  /** Set if the resource shows the objects of another resource in a different form. */
  readonly view?: View;
  /**
   * Whether `metadata.generation` counts changes of the desired state. The desired state is everything
   * outside of `metadata` and `status`.
   */
  readonly countsGeneration: boolean;
  /** Whether changed annotations count too. True for Deployments. */
  readonly countsAnnotations?: boolean;
  /** Sets default values. Runs on every write and has to be idempotent. */
  defaults(draft: KubeObject): void;
  /** Allocates and sets server-controlled fields on creation. Can throw an ApiError. */
  prepareCreate(draft: KubeObject): void;
  /** Carries over server-controlled fields, releases them and allocates new ones. Can throw an ApiError. */
  prepareUpdate(draft: KubeObject, old: KubeObject): void;
  /**
   * Returns the errors of an object, including its metadata (name, labels, annotations, finalizers, owners).
   * With `old`, also returns forbidden changes.
   */
  validate(object: KubeObject, old?: KubeObject): readonly Cause[];
  /** Like `validate`, for a write to `/status`. */
  validateStatus?(object: KubeObject, old: KubeObject): readonly Cause[];
  /** Values of all fields that field selectors support, in addition to `metadata.name` and `.namespace`. */
  fieldLabels(object: KubeObject): Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** Conditions of a table row, in addition to its cells. */
  rowConditions?(object: KubeObject): readonly object[];
  /** Warning for every use of the resource in this version. */
  readonly deprecation?: string;
  /** Warnings for the writer of this object. */
  warnings?(object: KubeObject): readonly string[];
  /** Whether a new object keeps its given status. True for Nodes, which register themselves. */
  readonly keepsStatusOnCreate?: boolean;
  /** Whether an update creates a missing object. True for Services, Endpoints, Leases and Events. */
  readonly createsOnUpdate?: boolean;
  /** Whether an update has to contain a resourceVersion. True for custom resources and Leases. */
  readonly requiresVersionOnUpdate?: boolean;
  /** Whether one request can delete all objects. False for Namespaces. */
  readonly deletesCollections?: boolean;
  /** Subresources in addition to status and scale, with their verbs. */
  readonly moreSubresources?: Readonly<Record<string, readonly string[]>>;
  /**
   * Whether a deletion returns the object instead of a Status. True for Pods, Services and ServiceAccounts.
   */
  readonly returnsDeleted?: boolean;
  /** Whether another field than `metadata.finalizers` blocks the deletion: `spec.finalizers`. */
  holdsDeletion?(object: KubeObject): boolean;
  /** Changes the object when it is marked for deletion: Namespaces become `Terminating`. */
  prepareDelete?(draft: KubeObject): void;
  /** Default seconds until a deletion takes effect. The default for Pods is 30. */
  defaultGracePeriodSeconds?(object: KubeObject): number;
}

/** Shows one resource as another. Hooks and columns get the objects in their stored form. */
export interface View {
  readonly of: GroupResource;
  readonly storageApiVersion: string;
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
}

/** The resource under which the store keeps the objects. */
export function storageResource(definition: ResourceDefinition): GroupResource {
  return definition.view?.of ?? groupResource(definition);
}

/** The name of a resource in the store and in messages: `services`, `deployments.apps`. */
export type GroupResource = string;

export function groupResource(definition: {
  readonly group: string;
  readonly plural: string;
}): GroupResource {
  return definition.group === '' ? definition.plural : `${definition.plural}.${definition.group}`;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(definition: {
  readonly group: string;
  readonly version: string;
}): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}
