import type { Selection } from '../client/client-options.ts';
import type { KubeClient } from '../client/client.ts';
import { KubeError } from '../client/error.ts';
import type { KubeObject } from '../objects/object.ts';
import { resourceName, type Resource } from '../objects/resource.ts';
import { readIfAllowed } from './check-list.ts';

/** API servers create this Service and its EndpointSlice themselves, and create them again after a deletion. */
const ownObject = 'default/kubernetes';
const ownResources: ReadonlySet<string> = new Set(['services', 'endpointslices.discovery.k8s.io']);

/**
 * Throws `conflict` if a list lacks the API server's own object although the API server has it. A process that
 * starts knows no other object, so only this check detects an empty list.
 */
export async function checkOwnObject<T extends KubeObject>(
  client: Pick<KubeClient, 'find'>,
  resource: Resource<T>,
  found: ReadonlyMap<string, KubeObject>,
  selection: Selection | undefined,
  signal: AbortSignal,
): Promise<void> {
  const name = resourceName(resource);
  if (!ownResources.has(name) || found.has(ownObject)) return;
  const own = await readIfAllowed(client, resource, ownObject, signal);
  if (own === undefined || !isSelected(selection, own)) return;
  throw new KubeError(
    'conflict',
    `the API server's list of ${name} lacks ${ownObject}, although the API server has it`,
    { hint: 'The list is read again. Until it is complete, nothing changes.' },
  );
}

/** Understands only selections by missing labels. For the others, it returns false: a list can lack the object. */
function isSelected(selection: Selection | undefined, { metadata }: KubeObject): boolean {
  if (selection === undefined) return true;
  const { namespace, fieldSelector, labelSelector } = selection;
  if (namespace !== undefined || fieldSelector !== undefined) return false;
  const terms = labelSelector?.split(',') ?? [];
  const labels = metadata?.labels ?? {};
  return terms.every((term) => term.startsWith('!') && !Object.hasOwn(labels, term.slice(1)));
}
