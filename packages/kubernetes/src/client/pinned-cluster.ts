import { isErrorCode } from '@causeway/base/error/causeway-error';
import type { Log } from '@causeway/base/observability/log';
import type { Gauge, Metrics } from '@causeway/base/observability/metrics';
import { namespaces } from '../objects/resources.ts';
import type { KubeClient } from './client.ts';
import { KubeError } from './error.ts';
import { clusterVerifiable } from './kube-metrics.ts';

export interface PinnedClusterOptions {
  readonly log: Log;
  readonly metrics: Metrics;
}

const forbidden =
  'this process may not read the namespace kube-system, so it does not detect the API server of another cluster';

/**
 * The cluster that a process works for: the UID of the namespace `kube-system` at the first check. An API server
 * with another UID behind the same address is not used: its objects would replace those of this cluster.
 */
export class PinnedCluster {
  readonly #log: Log;
  readonly #verifiable: Gauge<never>;
  #uid: string | undefined;
  #isForbidden: boolean | undefined;

  constructor({ log, metrics }: PinnedClusterOptions) {
    this.#log = log;
    this.#verifiable = metrics.gauge(clusterVerifiable);
  }

  /** Why another cluster would not be detected; undefined if it would be. */
  get problem(): string | undefined {
    return this.#isForbidden === true ? forbidden : undefined;
  }

  /**
   * Throws `conflict` for another cluster. Without the permission to read the namespace, nothing is checked, and
   * the log, the metric and `problem` say so.
   */
  async check(client: Pick<KubeClient, 'find'>, signal: AbortSignal): Promise<void> {
    let uid: string | undefined;
    try {
      uid = (await client.find(namespaces, { name: 'kube-system' }, { signal }))?.metadata?.uid;
    } catch (error) {
      if (!isErrorCode(error, 'forbidden')) throw error;
      this.#setForbidden(true);
      return;
    }
    this.#setForbidden(false);
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

  /** Logs changes only: a check follows each list and each watch. */
  #setForbidden(isForbidden: boolean): void {
    const before = this.#isForbidden;
    if (before === isForbidden) return;
    this.#isForbidden = isForbidden;
    this.#verifiable.set({}, isForbidden ? 0 : 1);
    const hint = 'Grant the permission to get the namespace kube-system.';
    if (isForbidden) this.#log.warn({ hint }, forbidden);
    else if (before === true) this.#log.info({}, 'this process reads the namespace kube-system');
  }
}
