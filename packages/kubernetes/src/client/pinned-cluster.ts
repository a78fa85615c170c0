import { isErrorCode } from '@causeway/base/error/causeway-error';
import { namespaces } from '../objects/resources.ts';
import type { KubeClient } from './client.ts';
import { KubeError } from './error.ts';

/**
 * The cluster that a process works for: the UID of the namespace `kube-system` at the first check. An API server
 * with another UID behind the same address is not used: its objects would replace those of this cluster.
 */
export class PinnedCluster {
  #uid: string | undefined;

  /** Throws `conflict` for another cluster. Without permission to read the namespace, nothing is checked. */
  async check(client: Pick<KubeClient, 'find'>, signal: AbortSignal): Promise<void> {
    let uid: string | undefined;
    try {
      uid = (await client.find(namespaces, { name: 'kube-system' }, { signal }))?.metadata?.uid;
    } catch (error) {
      if (isErrorCode(error, 'forbidden')) return;
      throw error;
    }
    this.#uid ??= uid;
    if (uid === this.#uid) return;
    throw new KubeError(
      'conflict',
      `the API server belongs to another cluster: its namespace kube-system has the UID ${uid ?? '(none)'}, and this process works for ${this.#uid}`,
      {
        hint: 'Nothing changes until the right API server answers. To change the cluster, restart the process.',
      },
    );
  }
}
