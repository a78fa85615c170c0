import type { JsonObject, KubeObject } from '../object.ts';
import { builtInSchema } from '../openapi/built-in-schemas.ts';
import { type Decoded, decodeAs } from '../openapi/decode.ts';
import { apiVersionOf, type ResourceDefinition } from '../resource-definition.ts';
import type { Schema } from '@causeway/kubernetes/objects/schema';

/** A resource in one version, with the functions that decode and merge its objects. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  /** Schema of the whole object, including metadata. Undefined if the object has no schema. */
  readonly schema: Schema | undefined;
  /** Custom resources follow different rules: no strategic merge, and a separate write for the status. */
  readonly isCustom: boolean;
  /** The `apiVersion` of stored objects. Other versions differ only in this field. */
  readonly storageApiVersion: string;
  /** Decodes a body as the kind. Unknown fields are dropped and reported. */
  decode(body: JsonObject): Decoded;
}

export function serveBuiltIn(definition: ResourceDefinition): ServedResource {
  const schema = builtInSchema(definition);
  return {
    definition,
    schema,
    isCustom: false,
    storageApiVersion: definition.view?.storageApiVersion ?? apiVersionOf(definition),
    decode(body) {
      if (schema === undefined) return { object: body, unknownFields: [], mismatches: [] };
      const decoded = decodeAs(schema, body);
      const { view } = definition;
      if (view === undefined) return decoded;
      return { ...decoded, object: view.toStored(decoded.object as KubeObject) };
    },
  };
}
