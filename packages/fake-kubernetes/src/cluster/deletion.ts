import type { Clock } from '@causeway/base/time/clock';
import type { DeleteOptions } from '../cluster-api.ts';
import type { KubeObject } from '../object.ts';
import { storageResource, type ResourceDefinition } from '../resource-definition.ts';
import { conflict, notFound, type ObjectIdentity } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { checkDeletable } from './namespaces.ts';
import { timestamp } from './new-object.ts';

export interface Deletion {
  /** The object after the deletion request. */
  readonly object: KubeObject;
  /** Whether the object is deleted. If not, it is marked and is deleted once nothing blocks its deletion. */
  readonly isGone: boolean;
}

/** Finalizers that represent a deletion policy. The garbage collector removes them. */
const policyFinalizers = { Foreground: 'foregroundDeletion', Orphan: 'orphan' } as const;

/** Whether an object that is marked for deletion can be deleted now. */
export function isFinished(definition: ResourceDefinition, object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  return (
    deletionTimestamp !== undefined &&
    deletionGracePeriodSeconds === 0 &&
    finalizers.length === 0 &&
    definition.holdsDeletion?.(object) !== true
  );
}

export function deleteObject(
  store: ObjectStore,
  clock: Clock,
  definition: ResourceDefinition,
  namespace: string | undefined,
  name: string,
  options: DeleteOptions,
): Deletion {
  const resource = storageResource(definition);
  const identity: ObjectIdentity = { ...definition, name };
  const found = store.get(resource, namespace, name);
  if (found === undefined) throw notFound(identity);
  checkDeletable(identity);
  checkPreconditions(identity, found, options);
  const marked = mark(definition, found, options, clock.wallTime());
  if (isFinished(definition, marked)) {
    const object =
      options.dryRun === true ? found : store.remove(resource, unmarked(definition, found, marked));
    return { object, isGone: true };
  }
  if (marked === found || options.dryRun === true) return { object: marked, isGone: false };
  return { object: store.replace(resource, marked), isGone: false };
}

/**
 * The final object has a deletion mark if its kind has a grace period or if it was marked before. Other
 * objects are deleted without a mark.
 */
const unmarked = (definition: ResourceDefinition, found: KubeObject, marked: KubeObject) =>
  found.metadata.deletionTimestamp === undefined &&
  definition.defaultGracePeriodSeconds === undefined
    ? found
    : marked;

function checkPreconditions(
  identity: ObjectIdentity,
  { metadata }: KubeObject,
  { preconditions = {} }: DeleteOptions,
): void {
  const { uid, resourceVersion } = preconditions;
  // Only here does a conflict contain the kind in place of the resource.
  const byKind = { ...identity, plural: identity.kind };
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      byKind,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      byKind,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** Returns the object with its deletion time and the finalizers of the deletion policy. */
function mark(
  definition: ResourceDefinition,
  found: KubeObject,
  options: DeleteOptions,
  wallTime: number,
): KubeObject {
  const before = found.metadata;
  const natural = definition.defaultGracePeriodSeconds?.(found) ?? 0;
  const asked = options.gracePeriodSeconds ?? natural;
  const grace = natural === 0 ? 0 : Math.min(asked, before.deletionGracePeriodSeconds ?? asked);
  const finalizers = finalizersFor(before.finalizers ?? [], options);
  const isMarked = before.deletionTimestamp !== undefined;
  const isSame =
    isMarked &&
    (before.deletionGracePeriodSeconds ?? 0) === grace &&
    finalizers.join() === (before.finalizers ?? []).join();
  if (isSame) return found;
  const draft = structuredClone(found);
  const { metadata } = draft;
  if (finalizers.length === 0) delete metadata.finalizers;
  else metadata.finalizers = finalizers;
  if (!isMarked || grace !== before.deletionGracePeriodSeconds) {
    metadata.deletionTimestamp = timestamp(wallTime + grace * 1000);
  }
  metadata.deletionGracePeriodSeconds = grace;
  if (!isMarked) {
    if (metadata.generation !== undefined) metadata.generation += 1;
    definition.prepareDelete?.(draft);
  }
  return draft;
}

function finalizersFor(present: readonly string[], { propagationPolicy }: DeleteOptions): string[] {
  if (propagationPolicy === undefined) return [...present];
  const others = present.filter(
    (finalizer) => !Object.values<string>(policyFinalizers).includes(finalizer),
  );
  return propagationPolicy === 'Background'
    ? others
    : [...others, policyFinalizers[propagationPolicy]];
}
