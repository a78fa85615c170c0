import { CausewayError } from '@causeway/base/error/causeway-error';
import { keyOf, type KubeObject, type ObjectMeta } from '../objects/object.ts';
import { shareStrings } from './shared-strings.ts';

/** Cuts an object down to the fields that are used, before it is kept. Must keep what `slimMetadata` keeps. */
export type Projection<T extends KubeObject, P extends KubeObject> = (object: T) => P;

const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** The metadata without what only others read: who owns which field, and what kubectl applied last. */
export function slimMetadata(metadata: ObjectMeta | undefined): ObjectMeta {
  const { managedFields: _, annotations, ...rest } = metadata ?? {};
  if (annotations === undefined) return rest;
  if (!(lastApplied in annotations)) return { ...rest, annotations };
  const { [lastApplied]: _dropped, ...kept } = annotations;
  return { ...rest, annotations: kept };
}

/** Keeps all but the metadata that only others read. */
export function withSlimMetadata<T extends KubeObject>(object: T): T {
  return { ...object, metadata: slimMetadata(object.metadata) };
}

/** What is to be kept of an object. Refuses a projection that lost what the store compares objects by. */
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
