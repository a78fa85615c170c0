import type { Service } from '@causeway/kubernetes/objects/core-objects';

/** Says once for each Service that wants it which gateways can't keep its clients on one pod. */
export class AffinityEvents {
  readonly #gateways: readonly string[];
  readonly #recorded = new Set<string>();

  /** The gateways that know no affinity: ch-k8s-lbaas's own agents. */
  constructor(gateways: readonly string[]) {
    this.#gateways = gateways;
  }

  about({ metadata, spec }: Service): string | undefined {
    const uid = metadata?.uid ?? '';
    if (this.#gateways.length === 0 || spec?.sessionAffinity !== 'ClientIP') {
      this.#recorded.delete(uid);
      return undefined;
    }
    if (this.#recorded.has(uid)) return undefined;
    this.#recorded.add(uid);
    return `The gateways ${this.#gateways.join(', ')} serve the Service without session affinity, because the agent of ch-k8s-lbaas does not support session affinity`;
  }

  forget(uid: string): void {
    this.#recorded.delete(uid);
  }
}
