import { CausewayError } from '@causeway/base/error/causeway-error';
import type { KubeClient } from '@causeway/kubernetes/client/client';
import { namespaces } from '@causeway/kubernetes/objects/resources';

/** Identifies a cluster among all clusters that use the same cloud project. */
export interface ClusterIdentity {
  /** The setting `clusterId`, or the UID if that is not set. Two clusters can have the same ID. */
  readonly id: string;
  /** The UID of the namespace `kube-system`. Two clusters never have the same UID. */
  readonly uid: string;
}

/**
 * Reads the identity of the cluster. The UID is part of each ownership mark in the cloud, so the call
 * fails if the UID can't be read: the controller must not act without it.
 */
export async function readClusterIdentity(
  clusterId: string | undefined,
  client: KubeClient,
  signal: AbortSignal,
): Promise<ClusterIdentity> {
  const { metadata } = await client.get(namespaces, { name: 'kube-system' }, { signal });
  const uid = metadata?.uid;
  if (uid === undefined || uid === '') {
    throw new CausewayError('invalid', 'the namespace kube-system has no UID', {
      hint: 'Causeway marks its cloud objects with this UID and does nothing without it.',
    });
  }
  return { id: clusterId ?? uid, uid };
}
