import type { KubeClient } from '@causeway/kubernetes/client/client';
import { services } from '@causeway/kubernetes/objects/resources';
import type { Owner } from './provider.ts';

/**
 * Why the load balancer of an owner that the store lacks must stay; undefined if the owner is deleted. The API
 * server is asked about this one object, because a list can lack objects that exist. Throws if the API server
 * belongs to another cluster, or does not answer.
 */
export async function whyNotDeleted(
  client: Pick<KubeClient, 'cluster' | 'find'>,
  { namespace, name, uid }: Owner,
  signal: AbortSignal,
): Promise<string | undefined> {
  await client.cluster?.check(client, signal);
  const found = await client.find(services, { namespace, name }, { signal });
  if (found === undefined || found.metadata?.uid !== uid) return undefined;
  return `The API server has the Service ${namespace}/${name}, but its list of Services lacks it. The load balancer stays.`;
}
