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
    return `It is served without session affinity: ch-k8s-lbaas's agent on ${this.#gateways.join(', ')} knows none`;
  }

  forget(uid: string): void {
    this.#recorded.delete(uid);
  }
}
