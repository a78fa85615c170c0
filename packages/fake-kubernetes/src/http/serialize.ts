import { asObject, type KubeObject } from '../object.ts';
import { apiVersionOf, type ResourceDefinition } from '../resource-definition.ts';

/** Everything of an object but its kind and version, as JSON without the opening brace. */
const bodies = new WeakMap<KubeObject, string>();

/** Stored objects never change, so each is turned into text once, however many read and watch it. */
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

/** The object as JSON, at the version it was asked for. */
export function serialize(definition: ResourceDefinition, object: KubeObject): string {
  return `{"kind":"${definition.kind}","apiVersion":"${apiVersionOf(definition)}",${shownBody(definition, object)}`;
}

/** An item of a list: where all items are of one built-in type, they do not say so again. */
export function serializeItem(
  definition: ResourceDefinition,
  object: KubeObject,
  isCustom: boolean,
): string {
  return isCustom ? serialize(definition, object) : `{${shownBody(definition, object)}`;
}

/** Only the metadata of an object. */
export function partialMetadata(object: KubeObject): object {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: asObject(object.metadata),
  };
}
