import { asObject, type KubeObject } from '../object.ts';
import { apiVersionOf, type ResourceDefinition } from '../resource-definition.ts';

/** JSON of each object without kind and apiVersion, and without the opening brace. */
const bodies = new WeakMap<KubeObject, string>();

/** Stored objects never change, so each object is serialized once for all readers and watches. */
function bodyOf(object: KubeObject): string {
  const known = bodies.get(object);
  if (known !== undefined) return known;
  const rest: Record<string, unknown> = { ...object };
  delete rest['kind'];
  delete rest['apiVersion'];
  const body = JSON.stringify(rest).slice(1);
  bodies.set(object, body);
  return body;
}

function shownBody({ view }: ResourceDefinition, object: KubeObject): string {
  return bodyOf(view === undefined ? object : view.fromStored(object));
}

/** The object as JSON in the requested version. */
export function serialize(definition: ResourceDefinition, object: KubeObject): string {
  return `{"kind":"${definition.kind}","apiVersion":"${apiVersionOf(definition)}",${shownBody(definition, object)}`;
}

/** An item of a list. Items of built-in kinds omit kind and apiVersion. */
export function serializeItem(
  definition: ResourceDefinition,
  object: KubeObject,
  isCustom: boolean,
): string {
  return isCustom ? serialize(definition, object) : `{${shownBody(definition, object)}`;
}

/** Returns only the metadata of an object. */
export function partialMetadata(object: KubeObject): object {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: asObject(object.metadata),
  };
}
