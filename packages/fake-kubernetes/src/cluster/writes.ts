import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@causeway/base/time/clock';
import { trackUpdate, type Writer } from '../apply/managed-fields.ts';
import { zeroValue } from '../apply/typed-value.ts';
import { asObject, fieldAt, type KubeObject, type ManagedFieldsEntry } from '../object.ts';
import { apiVersionOf, storageResource } from '../resource-definition.ts';
import {
  alreadyExists,
  ApiError,
  type Cause,
  conflict,
  invalid,
  notFound,
  type ObjectIdentity,
} from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { isFinished } from './deletion.ts';
import { checkNamespaceForCreate } from './namespaces.ts';
import { fillSystemFields, generatedName, timestamp } from './new-object.ts';
import type { ServedResource } from './served-resource.ts';

export interface WriteRequest {
  readonly dryRun?: boolean;
  /** Field manager of the write, for `managedFields`. */
  readonly fieldManager: string;
  /** The resulting owners, if already calculated (server-side apply). */
  readonly entries?: readonly ManagedFieldsEntry[];
}

export type Subresource = 'finalize' | 'scale' | 'status';

export interface UpdateRequest extends WriteRequest {
  readonly subresource?: Subresource;
}

export const staleVersion =
  'the object has been modified; please apply your changes to the latest version and try again';

export function identityOf(served: ServedResource, name: string): ObjectIdentity {
  const { group, plural, kind, view } = served.definition;
  // Error messages of a view contain the group of the stored resource.
  const own = view === undefined ? group : view.of.split('.').slice(1).join('.');
  return { group: own, plural, kind, name };
}

/**
 * Creates and updates objects. Each write passes the checks, the hooks of its definition and the ownership
 * tracking. It is then committed synchronously. Drafts are changed in place and must not be reused by the
 * caller.
 */
export class Writes {
  readonly #store: ObjectStore;
  readonly #clock: Clock;

  constructor(store: ObjectStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  create(served: ServedResource, draft: KubeObject, request: WriteRequest): KubeObject {
    const { definition } = served;
    if (draft.metadata.resourceVersion !== '') {
      throw new ApiError('Unknown', 'resourceVersion should not be set on objects to be created');
    }
    const resource = storageResource(definition);
    this.#name(served, draft);
    const identity = identityOf(served, draft.metadata.name);
    const { namespace } = draft.metadata;
    if (namespace !== undefined) checkNamespaceForCreate(this.#store, namespace, identity);
    if (definition.statusSubresource && definition.keepsStatusOnCreate !== true) {
      delete draft['status'];
    }
    definition.defaults(draft);
    own(draft, request.entries ?? this.#trackCreate(served, draft, request));
    if (definition.countsGeneration) draft.metadata.generation = 1;
    definition.prepareCreate(draft);
    refuse(identity, [...missingName(draft), ...definition.validate(draft)]);
    if (this.#store.get(resource, namespace, draft.metadata.name) !== undefined) {
      throw alreadyExists(identity);
    }
    return request.dryRun === true ? withoutVersion(draft) : this.#store.insert(resource, draft);
  }

  /** Returns the object after the update. An update without a difference is not committed. */
  update(served: ServedResource, draft: KubeObject, request: UpdateRequest): KubeObject {
    const { definition } = served;
    const resource = storageResource(definition);
    const { namespace, name } = draft.metadata;
    const identity = identityOf(served, name);
    const old = this.#store.get(resource, namespace, name);
    if (old === undefined) throw notFound(identity);
    checkPreconditions(served, identity, draft, old, request);
    const moved = movedDeletion(draft, old);
    draft['apiVersion'] = served.storageApiVersion;
    draft['kind'] = definition.kind;
    const given = draft.metadata.managedFields;
    keepWhatIsNotWritten(served, draft, old, request.subresource);
    definition.defaults(draft);
    own(draft, request.entries ?? this.#trackUpdate(served, draft, old, given, request));
    definition.prepareUpdate(draft, old);
    countGeneration(served, draft, old);
    const causes =
      request.subresource === 'status' && definition.validateStatus !== undefined
        ? definition.validateStatus(draft, old)
        : definition.validate(draft, old);
    refuse(identity, [...moved, ...causes]);
    draft.metadata.resourceVersion = old.metadata.resourceVersion;
    if (isDeepStrictEqual(draft, old)) return old;
    if (request.dryRun === true) return draft;
    return isFinished(definition, draft)
      ? this.#store.remove(resource, draft)
      : this.#store.replace(resource, draft);
  }

  writer(served: ServedResource, request: UpdateRequest): Writer {
    return {
      manager: request.fieldManager,
      apiVersion: apiVersionOf(served.definition),
      ...(request.subresource === 'scale' ? {} : { time: timestamp(this.#clock.wallTime()) }),
      ...(request.subresource === undefined ? {} : { subresource: request.subresource }),
    };
  }

  #name(served: ServedResource, draft: KubeObject): void {
    const { metadata } = draft;
    draft['apiVersion'] = served.storageApiVersion;
    draft['kind'] = served.definition.kind;
    fillSystemFields(draft, this.#clock.wallTime());
    if (!served.definition.namespaced) delete metadata.namespace;
    if (metadata.name !== '' || metadata.generateName === undefined) return;
    const isTaken = (name: string) =>
      this.#store.get(storageResource(served.definition), metadata.namespace, name) !== undefined;
    do {
      metadata.name = generatedName(metadata.generateName);
    } while (isTaken(metadata.name));
  }

  #trackCreate(
    served: ServedResource,
    draft: KubeObject,
    request: WriteRequest,
  ): readonly ManagedFieldsEntry[] {
    return trackUpdate({
      schema: served.schema,
      before: served.isCustom ? { metadata: {} } : zeroValue(served.schema),
      after: shownBy(served, withoutStatus(served, draft)),
      entries: draft.metadata.managedFields ?? [],
      writer: this.writer(served, request),
    });
  }

  /** A writer can pass its own list of owners, for example to migrate its entries. */
  #trackUpdate(
    served: ServedResource,
    draft: KubeObject,
    old: KubeObject,
    given: readonly ManagedFieldsEntry[] | undefined,
    request: UpdateRequest,
  ): readonly ManagedFieldsEntry[] {
    const base = given === undefined || given.length === 0 ? old.metadata.managedFields : given;
    const entries = base ?? [];
    if (!isTracked(served, entries, request.subresource)) return entries;
    return trackUpdate({
      schema: served.schema,
      before: shownBy(served, old),
      after: shownBy(served, draft),
      entries,
      writer: this.writer(served, request),
    });
  }
}

/**
 * An object without owners has opted out of ownership tracking, so an update doesn't start it again. For a
 * Scale, the same applies to the number of replicas.
 */
function isTracked(
  { definition }: ServedResource,
  entries: readonly ManagedFieldsEntry[],
  subresource: Subresource | undefined,
): boolean {
  if (subresource !== 'scale') return entries.length > 0;
  const path = (definition.scale?.specReplicas ?? []).map((step) => `f:${step}`);
  return entries.some(({ fieldsV1 }) => fieldAt(fieldsV1, ...path) !== undefined);
}

/** The creator of an object doesn't own its status, even if the status is accepted on creation. */
function withoutStatus({ definition }: ServedResource, draft: KubeObject): KubeObject {
  if (!definition.statusSubresource) return draft;
  const { status: _, ...rest } = draft;
  return rest;
}

/** Ownership uses the field names of the version that the writer uses. */
function shownBy({ definition }: ServedResource, object: KubeObject): KubeObject {
  return definition.view === undefined ? object : definition.view.fromStored(object);
}

function own(draft: KubeObject, entries: readonly ManagedFieldsEntry[]): void {
  if (entries.length === 0) delete draft.metadata.managedFields;
  else draft.metadata.managedFields = [...entries];
}

function refuse(identity: ObjectIdentity, causes: readonly Cause[]): void {
  if (causes.length > 0) throw invalid(identity, causes);
}

function missingName({ metadata }: KubeObject): readonly Cause[] {
  if (metadata.name !== '') return [];
  return [
    {
      reason: 'FieldValueRequired',
      message: 'Required value: name or generateName is required',
      field: 'metadata.name',
    },
  ];
}

/** Only a deletion request changes the deletion time of an object. */
function movedDeletion(draft: KubeObject, old: KubeObject): readonly Cause[] {
  const { deletionTimestamp } = draft.metadata;
  if (deletionTimestamp === undefined || deletionTimestamp === old.metadata.deletionTimestamp) {
    return [];
  }
  const message = `Invalid value: ${JSON.stringify(deletionTimestamp)}: field is immutable`;
  return [{ reason: 'FieldValueInvalid', message, field: 'metadata.deletionTimestamp' }];
}

function withoutVersion(draft: KubeObject): KubeObject {
  const metadata: Partial<KubeObject['metadata']> = { ...draft.metadata };
  delete metadata.resourceVersion;
  return { ...draft, metadata: metadata as KubeObject['metadata'] };
}

function checkPreconditions(
  served: ServedResource,
  identity: ObjectIdentity,
  draft: KubeObject,
  old: KubeObject,
  request: UpdateRequest,
): void {
  const { uid, resourceVersion } = draft.metadata;
  if (uid !== '' && uid !== old.metadata.uid) {
    const key = ['/registry', identity.plural, old.metadata.namespace, identity.name]
      .filter((part) => part !== undefined)
      .join('/');
    throw conflict(
      identity,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  if (resourceVersion !== '' && resourceVersion !== '0') {
    if (resourceVersion !== old.metadata.resourceVersion) throw conflict(identity, staleVersion);
    return;
  }
  if (served.definition.requiresVersionOnUpdate !== true || request.entries !== undefined) return;
  // This message contains the resource in place of the kind, as in the real server.
  refuse({ ...identity, kind: identity.plural }, [
    {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: 0: must be specified for an update',
      field: 'metadata.resourceVersion',
    },
  ]);
}

/** A write to a subresource changes only its part. Other writes change everything except the status. */
function keepWhatIsNotWritten(
  served: ServedResource,
  draft: KubeObject,
  old: KubeObject,
  subresource: Subresource | undefined,
): void {
  if (subresource === 'status') {
    const { status } = draft;
    const metadata = served.isCustom ? structuredClone(old.metadata) : draft.metadata;
    replaceContent(draft, { ...structuredClone(old), metadata });
    if (status === undefined) delete draft['status'];
    else draft['status'] = status;
  } else if (subresource === 'finalize') {
    const finalizers = fieldAt(draft, 'spec', 'finalizers');
    replaceContent(draft, { ...structuredClone(old), metadata: draft.metadata });
    draft['spec'] = { ...asObject(draft['spec']), finalizers };
  } else if (served.definition.statusSubresource) {
    if (old['status'] === undefined) delete draft['status'];
    else draft['status'] = old['status'];
  }
  const { metadata } = draft;
  delete metadata.selfLink;
  metadata.uid = old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  for (const name of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'generation'] as const) {
    delete metadata[name];
    Object.assign(metadata, old.metadata[name] === undefined ? {} : { [name]: old.metadata[name] });
  }
}

function replaceContent(draft: KubeObject, content: KubeObject): void {
  for (const name of Object.keys(draft)) delete draft[name];
  Object.assign(draft, content);
}

function countGeneration(served: ServedResource, draft: KubeObject, old: KubeObject): void {
  if (!served.definition.countsGeneration) return;
  const desired = (object: KubeObject) => {
    const { status, ...rest } = object;
    const { annotations } = object.metadata;
    const counted = served.definition.countsAnnotations === true ? annotations : undefined;
    const withoutMetadata = { ...rest, metadata: counted };
    return served.definition.statusSubresource ? withoutMetadata : { ...withoutMetadata, status };
  };
  const hasChanged = !isDeepStrictEqual(desired(draft), desired(old));
  draft.metadata.generation = (old.metadata.generation ?? 0) + (hasChanged ? 1 : 0);
}
