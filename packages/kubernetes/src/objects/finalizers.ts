import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { CallOptions } from '../client/client-options.ts';
import type { KubeClient } from '../client/client.ts';
import type { KubeObject, ObjectName } from './object.ts';
import type { Resource } from './resource.ts';

const mostTries = 8;

export function hasFinalizer(object: KubeObject, finalizer: string): boolean {
  return object.metadata?.finalizers?.includes(finalizer) === true;
}

/**
 * Ensures that the object has our finalizer, so that it stays until we have cleaned up. Returns the current
 * object, or undefined if it is deleted or being deleted: then it is too late.
 */
export function addFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return change(client, resource, object, options, (current) => {
    if (current.metadata?.deletionTimestamp !== undefined) return 'give up';
    const finalizers = current.metadata?.finalizers ?? [];
    return finalizers.includes(finalizer) ? 'nothing to do' : [...finalizers, finalizer];
  });
}

/** Removes our finalizer, so that a deleted object can disappear. Undefined if the object is already gone. */
export function removeFinalizer<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
  finalizer: string,
  options: CallOptions = {},
): Promise<T | undefined> {
  return change(client, resource, object, options, (current) => {
    const finalizers = current.metadata?.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return 'nothing to do';
    return finalizers.filter((other) => other !== finalizer);
  });
}

type Decision = readonly string[] | 'nothing to do' | 'give up';

/** Writes only to the state that the decision used; after a conflict, reads again. */
async function change<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  object: T,
  options: CallOptions,
  decide: (current: T) => Decision,
): Promise<T | undefined> {
  const { uid, name = '', namespace } = object.metadata ?? {};
  const target: ObjectName = namespace === undefined ? { name } : { namespace, name };
  let current: T | undefined = object;
  for (let tries = 1; current !== undefined; tries += 1) {
    // Another object under the same name is not ours.
    if (current.metadata?.uid !== uid) return undefined;
    const finalizers = decide(current);
    if (finalizers === 'nothing to do') return current;
    if (finalizers === 'give up') return undefined;
    const { resourceVersion } = current.metadata ?? {};
    const patch = { metadata: { uid, resourceVersion, finalizers } };
    try {
      return await client.patchMerge(resource, target, patch, options);
    } catch (error) {
      if (isErrorCode(error, 'not-found')) return undefined;
      if (!isErrorCode(error, 'conflict') || tries >= mostTries) throw error;
      current = await client.find(resource, target, options);
    }
  }
  return undefined;
}
