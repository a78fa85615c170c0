import type { IpamClient } from '../../packages/causeway/src/ipam/api/client.ts';
import { persist } from './doings.ts';
import { otherCluster as cluster, site } from './ledger.ts';

const limitMs = 20_000;

interface Held {
  readonly address: string;
  readonly fencingToken: number;
}

/** Another cluster that reserves addresses of the same pool. */
export class LedgerUser {
  /** Addresses that the allocator assigned to it. */
  readonly held = new Map<string, Held>();
  readonly #client: IpamClient;

  constructor(client: IpamClient) {
    this.#client = client;
  }

  async reserve(uid: string): Promise<void> {
    await persist(async () => {
      const asked = { params: { site, cluster }, body: { uid } };
      const answer = await this.#client.call('reserve', asked, AbortSignal.timeout(limitMs));
      if (answer.state !== 'held') throw new Error('nothing is free');
      const { addresses, fencingToken } = answer.reservation;
      this.held.set(uid, { address: addresses[0]?.address ?? '', fencingToken });
    });
  }

  async free(uid: string): Promise<void> {
    const { fencingToken } = this.held.get(uid) ?? {};
    // From here on the allocator may assign the address again.
    this.held.delete(uid);
    await persist(async () => {
      const query = {
        withdrawn: 'true' as const,
        ...(fencingToken === undefined ? {} : { fencingToken }),
      };
      const asked = { params: { site, cluster, uid }, query };
      await this.#client.call('free', asked, AbortSignal.timeout(limitMs));
    }, 'not-found');
  }
}
