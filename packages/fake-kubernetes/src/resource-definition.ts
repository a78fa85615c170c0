import type { KubeObject } from './object.ts';
import type { Cause } from './status.ts';

/** One column of `kubectl get`, printed by the server. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format: '' | 'name' | 'int32' | 'int64' | 'date' | 'date-time';
  readonly description: string;
  /** 0 is always shown, 1 only with `-o wide`. */
  readonly priority: number;
  /** The cell's value; `now` in milliseconds since 1970, for ages. */
  cell(object: KubeObject, now: number): string | number | boolean | null;
}

/** Where the `/scale` subresource finds its numbers, as paths of field names. */
export interface ScalePaths {
  readonly specReplicas: readonly string[];
  readonly statusReplicas: readonly string[];
  /** A path to a selector: a `LabelSelector`, a plain map of labels, or its text (custom resources). */
  readonly selector?: readonly string[];
}

/**
 * One resource that the API serves, at one version. Everything about a kind that is not the same for
 * all kinds is here: the server itself knows no kinds.
 *
 * A write passes through the hooks in this order: pruning by the schema, `defaults`, then
 * `prepareCreate` or `prepareUpdate`, then `validate`, then the store. Hooks get a draft that they may
 * change in place; they run synchronously within one write, so what they see in the store stays true
 * until the write is committed. A dry run passes through the same hooks and is then dropped: hooks
 * must not remember drafts (allocators learn what is taken from the store's events).
 */
export interface ResourceDefinition {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  /** Where it is not the kind with `List` behind it. */
  readonly listKind?: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Whether there is a `/status`, whose writes change nothing but `status`, and others no status. */
  readonly statusSubresource: boolean;
  readonly scale?: ScalePaths;
  /** Set where its objects are those of another resource, in other words. */
  readonly view?: View;
  /**
   * Whether `metadata.generation` counts changes of the desired state. Where it does, everything
   * outside `metadata` and `status` is desired state.
   */
  readonly countsGeneration: boolean;
  /** Whether changed annotations count as well: Deployments. */
  readonly countsAnnotations?: boolean;
  /** Fills in what the user left out. Runs on every write and must change nothing the second time. */
  defaults(draft: KubeObject): void;
  /** Allocates and sets what the server decides on creation. May throw an ApiError. */
  prepareCreate(draft: KubeObject): void;
  /** Carries over what the server decided earlier, releases, allocates anew. May throw an ApiError. */
  prepareUpdate(draft: KubeObject, old: KubeObject): void;
  /**
   * What is wrong with the object, its metadata (name, labels, annotations, finalizers, owners)
   * included; with `old`, also which changes are not allowed.
   */
  validate(object: KubeObject, old?: KubeObject): readonly Cause[];
  /** Like `validate`, for a write to `/status`. */
  validateStatus?(object: KubeObject, old: KubeObject): readonly Cause[];
  /** The values of all fields that field selectors may name beside `metadata.name` and `.namespace`. */
  fieldLabels(object: KubeObject): Readonly<Record<string, string>>;
  readonly columns: readonly Column[];
  /** What a row of a table says about the whole object, beside its cells. */
  rowConditions?(object: KubeObject): readonly object[];
  /** What clients are warned of whenever they use the resource at this version. */
  readonly deprecation?: string;
  /** What the writer of this object is warned of. */
  warnings?(object: KubeObject): readonly string[];
  /** Whether a new object keeps the status it came with: Nodes register themselves that way. */
  readonly keepsStatusOnCreate?: boolean;
  /** Whether an update of an object that is not there creates it: Services, Endpoints, Leases, Events. */
  readonly createsOnUpdate?: boolean;
  /** Whether an update has to name the resourceVersion it is based on: custom resources, Leases. */
  readonly requiresVersionOnUpdate?: boolean;
  /** Whether all objects can be deleted in one request; Namespaces go one by one. */
  readonly deletesCollections?: boolean;
  /** Subresources beside status and scale, with their verbs. */
  readonly moreSubresources?: Readonly<Record<string, readonly string[]>>;
  /** Whether a deletion is answered with the object: Pods, Services, ServiceAccounts. Else a Status. */
  readonly returnsDeleted?: boolean;
  /** Whether something beside `metadata.finalizers` keeps a deleted object: `spec.finalizers`. */
  holdsDeletion?(object: KubeObject): boolean;
  /** What changes as the object is marked for deletion: Namespaces become `Terminating`. */
  prepareDelete?(draft: KubeObject): void;
  /** Seconds until a deletion takes effect when the caller names none; Pods have 30 of them. */
  defaultGracePeriodSeconds?(object: KubeObject): number;
}

/** One resource shown as another: the hooks and the columns see objects as they are stored. */
export interface View {
  readonly of: GroupResource;
  readonly storageApiVersion: string;
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
}

/** Where the store keeps the objects of a resource. */
export function storageResource(definition: ResourceDefinition): GroupResource {
  return definition.view?.of ?? groupResource(definition);
}

/** How the store and the messages name a resource: `services`, `deployments.apps`. */
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
