import type { KubeClient } from '@causeway/kubernetes/client/client';
import { leases } from '@causeway/kubernetes/objects/resources';

/** A promise to stop announcing, and the wall time of the last contact with the ledger. */
export interface StoredContact {
  readonly at: number;
  readonly withdrawsAfterMs: number;
}

const withdrawsAfterAnnotation = 'causeway.dev/withdraws-after';
const fieldManager = 'causeway-controller';

/** Stores the promise in the cluster, as a Lease, so that the next controller keeps it too. */
export class ContactMemory {
  readonly #client: KubeClient;
  readonly #name: { readonly namespace: string; readonly name: string };

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#name = { namespace, name: 'causeway-pool-contact' };
  }

  async read(signal: AbortSignal): Promise<StoredContact | undefined> {
    const lease = await this.#client.find(leases, this.#name, { signal });
    const after = Number(lease?.metadata?.annotations?.[withdrawsAfterAnnotation]);
    const at = Date.parse(lease?.spec?.renewTime ?? '');
    if (!(after > 0) || Number.isNaN(at)) return undefined;
    return { at, withdrawsAfterMs: after };
  }

  async write({ at, withdrawsAfterMs }: StoredContact, signal: AbortSignal): Promise<void> {
    const renewTime = new Date(at).toISOString().replace('Z', '000Z');
    const annotations = { [withdrawsAfterAnnotation]: String(withdrawsAfterMs) };
    const lease = { metadata: { ...this.#name, annotations }, spec: { renewTime } };
    await this.#client.apply(leases, lease, { signal, fieldManager, force: true });
  }

  async drop(signal: AbortSignal): Promise<void> {
    if ((await this.#client.find(leases, this.#name, { signal })) === undefined) return;
    await this.#client.delete(leases, this.#name, { signal });
  }
}
