import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from './client.ts';
import type { KubeObject, ObjectName } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';

/** Changes an object by a merge patch, and creates an empty one first if it is missing. */
export async function patchOrCreate<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  empty: T & { readonly metadata: ObjectName },
  change: object,
  signal: AbortSignal,
): Promise<void> {
  const { namespace, name } = empty.metadata;
  const patch = () =>
    client.patchMerge(
      resource,
      { name, ...(namespace === undefined ? {} : { namespace }) },
      change,
      { signal },
    );
  try {
    await patch();
  } catch (error) {
    if (!isErrorCode(error, 'not-found')) throw error;
    try {
      await client.create(resource, empty, { signal });
    } catch (second) {
      // Another client has just created it.
      if (!isErrorCode(second, 'conflict')) throw second;
    }
    await patch();
  }
}
