import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { keyOf, nameFromKey, type KubeObject } from '@causeway/kubernetes/objects/object';
import { resourceName, type Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { nobodyListens } from '@causeway/base/work/progress-listener';
import { isOurs } from './ownership.ts';

export interface LeftOver {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Finds all objects of a backend in the cluster and deletes them after confirmation. Services are deleted
 * first.
 */
export async function purgeBackend(
  client: KubeClient,
  backend: string,
  isMeant: boolean,
  signal: AbortSignal,
  listener = nobodyListens,
): Promise<LeftOver[]> {
  const found: { readonly resource: Resource; readonly object: KubeObject }[] = [];
  const resources: readonly Resource[] = [services, endpointSlices, endpoints];
  listener.begin('Checking', resources.length);
  for (const resource of resources) {
    // Reads all of them: the mark decides, and labels may have been removed.
    for await (const object of client.list(resource, { signal })) {
      if (isOurs(backend, object)) found.push({ resource, object });
    }
    listener.step(resourceName(resource));
  }
  if (isMeant) {
    listener.begin('Deleting', found.length);
    for (const { resource, object } of found) {
      await remove(client, resource, object, signal);
      listener.step(keyOf(object));
    }
  }
  return found.map(({ resource, object }) => {
    const { namespace = '', name } = nameFromKey(keyOf(object));
    return { resource: resourceName(resource), namespace, name };
  });
}

async function remove(
  client: KubeClient,
  resource: Resource,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { uid } = object.metadata ?? {};
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  try {
    await client.delete(resource, nameFromKey(keyOf(object)), { signal, ...preconditions });
  } catch (error) {
    if (!isErrorCode(error, 'not-found') && !isErrorCode(error, 'conflict')) throw error;
  }
}
