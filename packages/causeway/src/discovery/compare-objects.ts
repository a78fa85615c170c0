import { isDeepStrictEqual } from 'node:util';
import type { Endpoints, Service } from '@causeway/kubernetes/objects/core-objects';
import type { EndpointSlice } from '@causeway/kubernetes/objects/network-objects';
import type { KubeObject } from '@causeway/kubernetes/objects/object';
import type { Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { mergeMetadata, ownPart } from './ownership.ts';
import { isHeadless, ownSpec, serviceUpdate } from './service-object.ts';

/** `replace`: some fields are immutable, so the object is deleted and recreated. */
export type Change = 'update' | 'replace' | undefined;

/** The change that brings an object to its desired state. */
export function changeOf(resource: Resource, actual: KubeObject, wanted: KubeObject): Change {
  // A finalizer still holds the object; it can be recreated after its deletion.
  if (actual.metadata?.deletionTimestamp !== undefined) return undefined;
  if (!hasSameNature(resource, actual, wanted)) return 'replace';
  const isSame =
    isDeepStrictEqual(ownPart(actual.metadata?.labels), wanted.metadata?.labels) &&
    isDeepStrictEqual(ownPart(actual.metadata?.annotations), wanted.metadata?.annotations) &&
    isDeepStrictEqual(contentOf(resource, actual), contentOf(resource, wanted));
  return isSame ? undefined : 'update';
}

/** The object to write over the actual one: the discovered fields, and the labels of others. */
export function updatedObject(
  resource: Resource,
  actual: KubeObject,
  wanted: KubeObject,
): KubeObject {
  const metadata = mergeMetadata(actual.metadata ?? {}, wanted.metadata ?? {});
  if (resource !== services) return { ...wanted, metadata };
  const updated: Service = { metadata, spec: serviceUpdate(actual, wanted) };
  return updated;
}

/** Whether a Service has an address, and the family of a slice: both are immutable. */
function hasSameNature(resource: Resource, actual: KubeObject, wanted: KubeObject): boolean {
  if (resource === services) return isHeadless(actual) === isHeadless(wanted);
  if (resource !== endpointSlices) return true;
  return (actual as EndpointSlice).addressType === (wanted as EndpointSlice).addressType;
}

/** The fields that discovery manages. */
function contentOf(resource: Resource, object: KubeObject): unknown {
  if (resource === services) return ownSpec(object);
  if (resource === endpoints) return (object as Endpoints).subsets ?? [];
  const slice = object as EndpointSlice;
  return [slice.endpoints ?? [], slice.ports ?? []];
}
