import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '../client/client.ts';
import { KubeError } from '../client/error.ts';
import { keyOf, nameFromKey, type KubeObject } from '../objects/object.ts';
import { resourceName, type Resource } from '../objects/resource.ts';

/** Objects that a list lacks and that are read one by one. */
const largestSample = 5;

/**
 * Throws `conflict` if a list lacks objects that the API server still has. `missing` are the objects that the store
 * would lose. With a selection, an object that changed since may have left the selection.
 */
export async function checkList<T extends KubeObject>(
  client: Pick<KubeClient, 'find'>,
  resource: Resource<T>,
  missing: Iterable<KubeObject>,
  hasSelection: boolean,
  signal: AbortSignal,
): Promise<void> {
  const sample = [...missing].slice(0, largestSample);
  for (const known of sample) {
    const { metadata } = known;
    const key = keyOf(known);
    const found = await readIfAllowed(client, resource, key, signal);
    const isSame = found?.metadata?.uid === metadata?.uid;
    const isUnchanged = found?.metadata?.resourceVersion === metadata?.resourceVersion;
    if (found === undefined || !isSame || (hasSelection && !isUnchanged)) continue;
    const name = resourceName(resource);
    throw new KubeError(
      'conflict',
      `the API server's list of ${name} lacks ${key}, although the API server has it`,
      { hint: 'The list is read again. Until it is complete, the known objects stay.' },
    );
  }
}

/** Undefined also without the permission: then nothing contradicts the list. */
export async function readIfAllowed<T extends KubeObject>(
  client: Pick<KubeClient, 'find'>,
  resource: Resource<T>,
  key: string,
  signal: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.find(resource, nameFromKey(key), { signal });
  } catch (error) {
    if (isErrorCode(error, 'forbidden')) return undefined;
    throw error;
  }
}
