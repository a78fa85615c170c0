import { isObject, type JsonObject, type ManagedFieldsEntry } from '../object.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';
import { ApiError, type Cause } from '../status.ts';
import {
  difference,
  emptySet,
  type FieldSet,
  fromFieldsV1,
  intersection,
  isEmpty,
  pathsOf,
  toFieldsV1,
  union,
  without,
} from './field-set.ts';
import { merge, prune } from './merge.ts';
import { compare, fieldsOf } from './typed-value.ts';

/** Manager, version and time of a write. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource?: string;
  /** RFC 3339, precise to the second. Undefined for writes of a Scale. */
  readonly time?: string;
}

/** One parsed entry of `metadata.managedFields`. */
interface Ownership {
  readonly entry: Omit<ManagedFieldsEntry, 'fieldsV1'>;
  readonly fields: FieldSet;
}

/** Fields that the server sets and that no manager owns. */
const unowned = ['apiVersion', 'kind'];
const unownedMetadata = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
];

function ownable(object: JsonObject): JsonObject {
  const { metadata, ...rest } = object;
  for (const field of unowned) delete rest[field];
  if (!isObject(metadata)) return rest;
  const kept = Object.fromEntries(
    Object.entries(metadata).filter(([field]) => !unownedMetadata.includes(field)),
  );
  return { ...rest, metadata: kept };
}

export interface UpdateTracking {
  readonly schema: Schema | undefined;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly entries: readonly ManagedFieldsEntry[];
  readonly writer: Writer;
  /** Top-level field that this kind of write can't change: `status`. */
  readonly ignored?: string;
}

/**
 * Calculates the owners after an update. The writer owns the fields it changed; other managers keep their
 * remaining fields.
 */
export function trackUpdate(update: UpdateTracking): ManagedFieldsEntry[] {
  const { schema, before, after, writer } = update;
  const { added, modified, removed } = compare(schema, ownable(before), ownable(after));
  const drop = (set: FieldSet) =>
    update.ignored === undefined ? set : without(set, `f:${update.ignored}`);
  const changed = drop(union(added, modified));
  const lost = union(changed, drop(removed));
  const isWriter = ({ entry }: Ownership) => isSameWriter(entry, writer, 'Update');
  const owners = read(update.entries);
  const mine = owners.find(isWriter);
  const fields = union(difference(mine?.fields ?? emptySet, drop(removed)), changed);
  const others = owners
    .filter((owner) => !isWriter(owner))
    .map((owner) => ({ ...owner, fields: difference(owner.fields, lost) }));
  return written([...others, owned(mine, fields, !isEmpty(changed), writer, 'Update')]);
}

export interface Application {
  readonly schema: Schema | undefined;
  readonly live: JsonObject;
  readonly config: JsonObject;
  readonly entries: readonly ManagedFieldsEntry[];
  readonly writer: Writer;
  readonly force: boolean;
  /** Fields that the writer can take over without `force`. */
  readonly takeable?: FieldSet;
}

export interface Applied {
  readonly object: JsonObject;
  readonly entries: ManagedFieldsEntry[];
}

/**
 * Server-side apply: returns the merged object and its owners. Throws a Conflict if other managers own a
 * changed field.
 */
export function applyConfiguration(application: Application): Applied {
  const { schema, live, config, writer } = application;
  const owners = read(application.entries);
  const isWriter = ({ entry }: Ownership) => isSameWriter(entry, writer, 'Apply');
  const last = owners.find(isWriter);
  const others = owners.filter((owner) => !isWriter(owner));
  const mine = withoutIdentity(fieldsOf(schema, ownable(config)));
  const everyone = others.reduce((set, owner) => union(set, owner.fields), mine);
  const merged = merge(schema, live, config);
  const pruned = last === undefined ? merged : prune(schema, merged, last.fields, everyone);
  const object = isObject(pruned) ? pruned : {};
  const { added, modified, removed } = compare(schema, ownable(live), ownable(object));
  const changed = union(added, modified);
  const contested = difference(changed, application.takeable ?? emptySet);
  const conflicts = others
    .map((owner) => ({ entry: owner.entry, fields: intersection(owner.fields, contested) }))
    .filter(({ fields }) => !isEmpty(fields));
  if (conflicts.length > 0 && !application.force) throw conflictError(conflicts);
  const lost = union(changed, removed);
  const left = others.map((owner) => ({ ...owner, fields: difference(owner.fields, lost) }));
  return {
    object,
    entries: written([...left, owned(last, mine, !isEmpty(lost), writer, 'Apply')]),
  };
}

/** An applied configuration that contains only its identity owns no fields. */
const withoutIdentity = (fields: FieldSet) => {
  const metadata = fields.children.get('f:metadata');
  return metadata !== undefined && metadata.children.size === 0
    ? without({ ...fields, member: false }, 'f:metadata')
    : { ...fields, member: false };
};

function isSameWriter(
  entry: Ownership['entry'],
  writer: Writer,
  operation: 'Apply' | 'Update',
): boolean {
  return (
    entry.operation === operation &&
    entry.manager === writer.manager &&
    (entry.subresource ?? '') === (writer.subresource ?? '') &&
    (operation === 'Apply' || entry.apiVersion === writer.apiVersion)
  );
}

/** The writer's own entry. Its time is that of the last write that changed the object. */
function owned(
  before: Ownership | undefined,
  fields: FieldSet,
  hasChanged: boolean,
  writer: Writer,
  operation: 'Apply' | 'Update',
): Ownership {
  const time = hasChanged ? writer.time : before?.entry.time;
  return {
    fields,
    entry: {
      manager: writer.manager,
      operation,
      apiVersion: writer.apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      ...(writer.subresource === undefined ? {} : { subresource: writer.subresource }),
    },
  };
}

function read(entries: readonly ManagedFieldsEntry[]): Ownership[] {
  return entries.flatMap(({ fieldsV1, ...entry }) => {
    const fields = fromFieldsV1(fieldsV1);
    return fields === undefined ? [] : [{ entry, fields }];
  });
}

const sortKey = ({ entry }: Ownership) =>
  [
    entry.operation,
    entry.time ?? '',
    entry.manager,
    entry.apiVersion,
    entry.subresource ?? '',
  ].join('\n');

function written(owners: readonly Ownership[]): ManagedFieldsEntry[] {
  return owners
    .filter(({ fields }) => !isEmpty(fields))
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
    .map(({ entry, fields }) => ({ ...entry, fieldsV1: toFieldsV1(fields) }));
}

function conflictError(conflicts: readonly Ownership[]): ApiError {
  const causes: Cause[] = conflicts.flatMap(({ entry, fields }) =>
    pathsOf(fields).map((field) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${described(entry)}`,
      field,
    })),
  );
  const [only] = causes;
  if (causes.length === 1 && only !== undefined) {
    return new ApiError(
      'Conflict',
      `Apply failed with 1 conflict: ${only.message}: ${only.field}`,
      {
        causes,
      },
    );
  }
  const groups = [...Map.groupBy(causes, (cause) => cause.message)].map(
    ([message, group]) =>
      `${message.replace('conflict', 'conflicts')}:\n${group.map(({ field }) => `- ${field}`).join('\n')}`,
  );
  const message = `Apply failed with ${causes.length} conflicts: ${groups.join('\n')}`;
  return new ApiError('Conflict', message, { causes });
}

function described(entry: Ownership['entry']): string {
  const subresource =
    entry.subresource === undefined ? '' : ` with subresource "${entry.subresource}"`;
  // The name alone identifies an applier, because an applier can change the version that it applies.
  const version = entry.operation === 'Apply' ? '' : ` using ${entry.apiVersion}`;
  return `"${entry.manager}"${subresource}${version}`;
}
