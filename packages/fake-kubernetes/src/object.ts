/** A JSON object with unknown fields. */
export interface JsonObject {
  [field: string]: unknown;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  time?: string;
  fieldsType: 'FieldsV1';
  fieldsV1: JsonObject;
  subresource?: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFieldsEntry[];
  /** Never stored. Old servers set it to the path of the object. */
  selfLink?: string;
}

/**
 * An API object. Objects in the store are immutable. To change an object, `structuredClone` it, change the
 * copy and write it back.
 */
export interface KubeObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns the value if it is an object, otherwise an empty object. Used to read fields that can be absent.
 */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value at a path of field names, or undefined if the path doesn't exist. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const name of path) {
    if (!isObject(current)) return undefined;
    current = current[name];
  }
  return current;
}
