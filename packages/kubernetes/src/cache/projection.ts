import { CausewayError } from '@causeway/base/error/causeway-error';
import { keyOf, type KubeObject, type ObjectMeta } from '../objects/object.ts';
import { shareStrings } from './shared-strings.ts';

/** Reduces an object to the used fields before it is stored. Must keep what `slimMetadata` keeps. */
export type Projection<T extends KubeObject, P extends KubeObject> = (object: T) => P;

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * The metadata without parts that Causeway does not read: managed fields and kubectl's last applied
 * configuration.
 */
export function slimMetadata(metadata: ObjectMeta | undefined): ObjectMeta {
  const { managedFields: _, annotations, ...rest } = metadata ?? {};
  if (annotations === undefined) return rest;
  if (!(lastApplied in annotations)) return { ...rest, annotations };
  const { [lastApplied]: _dropped, ...kept } = annotations;
  return { ...rest, annotations: kept };
}

/** Keeps everything except the metadata that Causeway does not read. */
export function withSlimMetadata<T extends KubeObject>(object: T): T {
  return { ...object, metadata: slimMetadata(object.metadata) };
}

/** Applies a projection. Rejects a projection that loses the fields by which the store compares objects. */
export function project<T extends KubeObject, P extends KubeObject>(
  projection: Projection<T, P>,
  object: T,
): P {
  const projected = projection(object);
  const { uid, resourceVersion } = object.metadata ?? {};
  if (
    projected.metadata?.uid !== uid ||
    projected.metadata?.resourceVersion !== resourceVersion ||
    keyOf(projected) !== keyOf(object)
  ) {
    throw new CausewayError('internal', `the projection of ${keyOf(object)} changed its identity`);
  }
  shareStrings(projected);
  return projected;
}
