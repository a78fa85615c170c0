import { applyConfiguration } from '../apply/managed-fields.ts';
import { toFieldsV1 } from '../apply/field-set.ts';
import { takeableFields, updateLastApplied, upgradingManager } from '../apply/last-applied.ts';
import { fieldsOf } from '../apply/typed-value.ts';
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../object.ts';
import { storageResource } from '../resource-definition.ts';
import { ApiError, conflict, notFound } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import { asDraft } from './new-object.ts';
import type { ServedResource } from './served-resource.ts';
import { identityOf, staleVersion, type UpdateRequest, type Writes } from './writes.ts';

export interface ApplyRequest extends UpdateRequest {
  readonly force: boolean;
  /** The configuration as sent, before decoding. */
  readonly sent: JsonObject;
}

/** Applies a configuration: creates the object, or merges the configuration into the existing object. */
export function applyObject(
  store: ObjectStore,
  writes: Writes,
  served: ServedResource,
  config: KubeObject,
  request: ApplyRequest,
): { readonly object: KubeObject; readonly isNew: boolean } {
  const { name, namespace, uid, resourceVersion } = config.metadata;
  const identity = identityOf(served, name);
  if (config.metadata.managedFields !== undefined) {
    throw new ApiError('BadRequest', 'metadata.managedFields must be nil');
  }
  const live = store.get(storageResource(served.definition), namespace, name);
  if (live === undefined && resourceVersion !== '') throw conflict(identity, staleVersion);
  if (live === undefined && (request.subresource !== undefined || uid !== '')) {
    throw notFound(identity);
  }
  const isUpgrade = request.fieldManager === upgradingManager && request.subresource === undefined;
  const { object, entries } = applyConfiguration({
    schema: served.schema,
    live: live ?? {},
    config: relevant(served, config, request),
    entries: live === undefined ? [] : ownersOf(served, live),
    writer: writes.writer(served, request),
    force: request.force,
    ...(isUpgrade && live !== undefined ? { takeable: takeableFields(served.schema, live) } : {}),
  });
  // Decodes the result again, which drops empty applied values (null, an empty map).
  const draft = asDraft(served.decode(structuredClone(object)).object);
  if (isUpgrade) updateLastApplied(draft, request.sent);
  const write = { ...request, entries };
  return live === undefined
    ? { object: writes.create(served, draft, write), isNew: true }
    : { object: writes.update(served, draft, write), isNew: false };
}

/** The fields that the endpoint can change: the status on `/status`, all other fields elsewhere. */
function relevant(served: ServedResource, config: KubeObject, request: ApplyRequest): JsonObject {
  const { status, ...rest } = config;
  if (request.subresource === 'status') {
    const { apiVersion, kind, metadata } = config;
    const { name, namespace } = metadata;
    const identity = { name, ...(namespace === undefined ? {} : { namespace }) };
    return { apiVersion, kind, metadata: identity, ...(status === undefined ? {} : { status }) };
  }
  return served.definition.statusSubresource ? rest : config;
}

/** Fields without an owner belong to the manager `before-first-apply`. */
function ownersOf(served: ServedResource, live: KubeObject): readonly ManagedFieldsEntry[] {
  const { managedFields } = live.metadata;
  if (managedFields !== undefined && managedFields.length > 0) return managedFields;
  const owned: JsonObject = { ...live };
  for (const field of ['apiVersion', 'kind', 'metadata', 'status']) delete owned[field];
  return [
    {
      manager: 'before-first-apply',
      operation: 'Update',
      apiVersion: live.apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1: toFieldsV1(fieldsOf(served.schema, owned)),
    },
  ];
}
