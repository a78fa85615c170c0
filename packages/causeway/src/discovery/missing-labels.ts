import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { keyOf, type KubeObject } from '@causeway/kubernetes/objects/object';
import { resourceName, type Resource } from '@causeway/kubernetes/objects/resource';
import { endpoints, endpointSlices, services } from '@causeway/kubernetes/objects/resources';
import { isOurs, labels, manager } from './ownership.ts';

export interface MissingLabelOptions {
  readonly client: KubeClient;
  readonly backends: readonly string[];
  /** Told of each object that is watched again. */
  readonly onFound: (resource: Resource, object: KubeObject) => void;
  /** Where a dry run prints what would be done; without it, it is done. */
  readonly print: ((text: string) => void) | undefined;
}

/**
 * What is watched is chosen by a label, which anybody can take off; an object without it would stay for
 * ever. This looks at everything, knows our objects by their mark, and puts the label back.
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

/** Nothing where it is gone or was changed meanwhile: there will be a next time. */
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
