import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '../client/client.ts';
import type { KubeObject } from './object.ts';
import type { Resource } from './resource.ts';

/** Whether the cluster serves a resource. Only a definite 404 counts as no; other errors are thrown. */
export async function isServed<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    for await (const _ of client.list(resource, { signal, pageSize: 1 })) break;
    return true;
  } catch (error) {
    if (isErrorCode(error, 'not-found')) return false;
    throw error;
  }
}
