import type { JsonObject, KubeObject } from '../object.ts';
import { builtInSchema } from '../openapi/built-in-schemas.ts';
import { type Decoded, decodeAs } from '../openapi/decode.ts';
import { apiVersionOf, type ResourceDefinition } from '../resource-definition.ts';
import type { Schema } from '../schema-type.ts';

/** A resource at one version, with what the server needs to read and merge its objects. */
export interface ServedResource {
  readonly definition: ResourceDefinition;
  /** Describes the whole object, metadata included; undefined where nothing is known of it. */
  readonly schema: Schema | undefined;
  /** Custom resources differ in a few rules: no strategic merge, a status that is written alone. */
  readonly isCustom: boolean;
  /** The `apiVersion` that objects are stored with; other versions differ from it in nothing else. */
  readonly storageApiVersion: string;
  /** Reads a body as the kind: unknown fields fall away and are named. */
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
