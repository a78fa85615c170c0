import { z } from 'zod';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { configMaps } from '@causeway/kubernetes/objects/resources';

const legacyFence = z.looseObject({ fence: z.number() });

/** 0.1.0 stored the fencing token of holdings and pending releases under `fence`. */
export function fromLegacyFence(stored: unknown): unknown {
  const legacy = legacyFence.safeParse(stored);
  if (!legacy.success) return stored;
  const { fence, ...others } = legacy.data;
  return { fencingToken: fence, ...others };
}

/** 0.1.0 stored the pending releases in this ConfigMap. */
export const legacyReleasesName = 'causeway-pool-departed';

export async function readLegacyReleases(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const name = { namespace, name: legacyReleasesName };
  return (await client.find(configMaps, name, { signal }))?.data ?? {};
}

/** Removes entries that the new ConfigMap has. The empty ConfigMap stays: the controller must not delete it. */
export async function removeLegacyReleases(
  client: KubeClient,
  namespace: string,
  uids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const data = Object.fromEntries(uids.map((uid) => [uid, null]));
  await client.patchMerge(
    configMaps,
    { namespace, name: legacyReleasesName },
    { data },
    { signal },
  );
}
