import { parseAddress, type Address, type Family } from '@causeway/base/address/address';
import type { IpamClient } from '../ipam/api/client.ts';
import type { AnswerOf } from '../ipam/api/operations.ts';
import type { HeldAddress } from './holding.ts';

/** The request for a Service. */
export interface Demand {
  readonly namespace: string;
  readonly name: string;
  readonly families: readonly Family[];
  /** The requested addresses: those that the Service has, or those that its user requests. */
  readonly addresses: readonly Address[];
  /** The addresses are announced for the Service now. A restored ledger must accept that. */
  readonly inUse: boolean;
  readonly pool?: string | undefined;
  /** The labels that the pool must have. */
  readonly poolLabels?: Readonly<Record<string, string>> | undefined;
  readonly sharingKey?: string | undefined;
  /** `TCP/443` */
  readonly ports: readonly string[];
}

export interface Grant {
  readonly addresses: readonly HeldAddress[];
  readonly fencingToken: number;
  /** The announcer, if the pool names one. */
  readonly announcer?: string | undefined;
}

export interface LedgerReservation {
  readonly uid: string;
  readonly purpose: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly addresses: readonly Address[];
  readonly fencingToken: number;
}

/** The shared ledger as seen by one cluster: only the cluster's own part, with its own credential. */
export class PoolLedger {
  readonly #client: Pick<IpamClient, 'call'>;
  readonly #here: { readonly site: string; readonly cluster: string };

  constructor(client: Pick<IpamClient, 'call'>, here: { site: string; cluster: string }) {
    this.#client = client;
    this.#here = here;
  }

  /** Returns undefined while the Service has to wait. Repeated calls keep its place in the queue. */
  async ensure(uid: string, demand: Demand, signal: AbortSignal): Promise<Grant | undefined> {
    const params = { ...this.#here, uid };
    const { families, addresses, ports, ...rest } = demand;
    const body = {
      ...rest,
      families: [...families],
      addresses: [...addresses],
      ports: [...ports],
      waitMs: 0,
    };
    const answer = await this.#client.call('ensureLoadBalancer', { params, body }, signal);
    return answer.state === 'waiting' ? undefined : grantOf(answer);
  }

  /** Updates the ports of a Service with a reservation, or releases some of its addresses. */
  async update(
    uid: string,
    fencingToken: number,
    change: { readonly ports?: readonly string[]; readonly keeps?: readonly Address[] },
    signal: AbortSignal,
  ): Promise<Grant> {
    const { ports, keeps } = change;
    const body = {
      fencingToken,
      ...(ports === undefined ? {} : { ports: [...ports] }),
      ...(keeps === undefined ? {} : { addresses: [...keeps] }),
    };
    const input = { params: { ...this.#here, uid }, body };
    return grantOf(await this.#client.call('updateLoadBalancer', input, signal));
  }

  /** Frees the reservation of the owner. `withdrawn`: the announcement was seen to end. */
  async delete(
    uid: string,
    fencingToken: number,
    withdrawn: boolean,
    signal: AbortSignal,
  ): Promise<void> {
    const query = { fencingToken, withdrawn: withdrawn ? ('true' as const) : ('false' as const) };
    const input = { params: { ...this.#here, uid }, query };
    await this.#client.call('deleteLoadBalancer', input, signal);
  }

  async heartbeat(
    withdrawsAfterMs: number | undefined,
    signal: AbortSignal,
  ): Promise<AnswerOf<'heartbeat'>> {
    const body = withdrawsAfterMs === undefined ? {} : { withdrawsAfterMs };
    return this.#client.call('heartbeat', { params: this.#here, body }, signal);
  }

  /** Whether an address is in a pool of the site, and reserved; without its owner. */
  async stateOf(address: Address, signal: AbortSignal): Promise<string> {
    const params = { site: this.#here.site, address };
    return (await this.#client.call('whoHas', { params }, signal)).state;
  }

  async reservations(signal: AbortSignal): Promise<readonly LedgerReservation[]> {
    const input = { params: this.#here };
    const { items } = await this.#client.call('listReservations', input, signal);
    return items.map(({ uid, purpose, namespace, name, addresses, fencingToken }) => ({
      uid,
      purpose,
      namespace,
      name,
      fencingToken,
      addresses: addresses.map(({ address }) => parseAddress(address)),
    }));
  }
}

function grantOf({ addresses, fencingToken, announcer }: AnswerOf<'updateLoadBalancer'>): Grant {
  return {
    fencingToken,
    announcer,
    addresses: addresses.map(({ address, publicAddress }) => ({
      address: parseAddress(address),
      publicAddress: publicAddress === undefined ? undefined : parseAddress(publicAddress),
    })),
  };
}
