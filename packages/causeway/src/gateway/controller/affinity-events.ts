import type { FrontendSpec } from '../../services/frontend-spec.ts';

/** Warns once for each Service with session affinity if some gateways don't support it. */
export class AffinityEvents {
  readonly #gateways: readonly string[];
  readonly #warned = new Set<string>();

  /** The gateways without session affinity: they run the agent of ch-k8s-lbaas. */
  constructor(gateways: readonly string[]) {
    this.#gateways = gateways;
  }

  about({ owner: { uid }, policy }: FrontendSpec): string | undefined {
    if (this.#gateways.length === 0 || policy.affinity !== 'client') {
      this.#warned.delete(uid);
      return undefined;
    }
    if (this.#warned.has(uid)) return undefined;
    this.#warned.add(uid);
    return `The Service has no session affinity on ${this.#gateways.join(', ')}: the agent of ch-k8s-lbaas does not support it`;
  }

  forget(uid: string): void {
    this.#warned.delete(uid);
  }
}
