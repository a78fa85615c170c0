import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { resourceName, type Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { isOurs, labels, manager } from './ownership.ts';

export interface MissingLabelOptions {
  readonly client: KubeClient;
  readonly backends: readonly string[];
  /** Called for each object that is watched again. */
  readonly onFound: (resource: Resource, object: KubeObject) => void;
  /** Output of a dry run; if omitted, the changes are made. */
  readonly print: ((text: string) => void) | undefined;
}

/**
 * The watch selects objects by a label, which any client can remove; an object without it would stay forever.
 * This reads all objects, recognizes the discovered ones by their mark, and restores the label.
 */
export async function putLabelsBack(
  { client, backends, onFound, print }: MissingLabelOptions,
  signal: AbortSignal,
): Promise<void> {
  for (const resource of [services, endpointSlices, endpoints] as readonly Resource[]) {
    for await (const object of client.list(resource, { signal })) {
      const labelled = withLabel(object, backends);
      if (labelled === undefined) continue;
      if (print === undefined) {
        const written = await update(client, resource, labelled, signal);
        if (written !== undefined) onFound(resource, written);
      } else {
        print(`~ ${resourceName(resource)}/${keyOf(object)}  its label ${labels.backend}\n`);
        onFound(resource, labelled);
      }
    }
  }
}

function withLabel(object: KubeObject, backends: readonly string[]): KubeObject | undefined {
  const { metadata } = object;
  const backend = backends.find((one) => isOurs(one, object));
  if (backend === undefined || metadata?.labels?.[labels.backend] === backend) return undefined;
  if (metadata?.deletionTimestamp !== undefined) return undefined;
  const own = { ...metadata?.labels, [labels.backend]: backend };
  return { ...object, metadata: { ...metadata, labels: own } };
}

/** Returns nothing if the object was deleted or changed in the meantime: the next run tries again. */
async function update(
  client: KubeClient,
  resource: Resource,
  object: KubeObject,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.update(resource, object, { signal, fieldManager: manager });
  } catch (error) {
    if (!isErrorCode(error, 'not-found') && !isErrorCode(error, 'conflict')) throw error;
    return undefined;
  }
}
