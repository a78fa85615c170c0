import { expect } from 'vitest';
import { parseAddress } from '@causeway/base/address/address';
import { createCluster } from './cluster-decisions.ts';
import type { Decide } from './decision.ts';
import { demandSchema, poolSpecSchema, type Demand, type PoolSpec } from './records.ts';
import type { RefusalReason } from './refusal.ts';
import { free, type FreeRequest } from './release.ts';
import type { ReserveAnswer } from './reservation.ts';
import { reserve } from './reserve.ts';
import { setPool, setSite } from './site-decisions.ts';
import { View } from './view.ts';

/** Carries out decisions at once on a view, without a ledger: for tests of the decisions themselves. */
export class TestAllocator {
  readonly view = new View();
  now = 1_000_000;
  readonly busy = new Set<string>();
  readonly grant = { actor: 'test', key: undefined, credential: undefined };
  #ids = 0;

  /** Decides, applies, and returns the answer; throws if the decision is a refusal. */
  run<T>(decide: Decide<T>): T {
    const decision = decide(this.view, this, this.grant);
    if (decision.kind === 'refuse') throw decision.error;
    if (decision.kind === 'busy') throw new Error('busy');
    if (decision.kind === 'change') {
      const revision = this.view.revision + 1;
      const changes = decision.writes.map(({ key, value }) => ({ key, value, revision }));
      this.view.apply({ revision, changes });
    }
    return decision.answer;
  }

  /** A site `s` with the pools; a confirmed withdrawal has a quarantine only if the settings say so. */
  withSite(
    pools: readonly (Partial<PoolSpec> & { name: string; addresses: string[] })[],
    settings: Parameters<typeof setSite>[0]['settings'] = {},
  ): this {
    const noRest = { quarantineMs: 0, unconfirmedQuarantineMs: 600_000, keepMs: 0 };
    this.run(setSite({ site: 's', settings: { ...noRest, ...settings } }));
    for (const pool of pools) {
      this.run(setPool({ site: 's', pool: poolSpecSchema.parse(pool) }));
    }
    return this;
  }

  withCluster(cluster: string, more: Partial<Parameters<typeof createCluster>[0]> = {}): this {
    this.createCluster(cluster, more);
    return this;
  }

  createCluster(cluster: string, more: Partial<Parameters<typeof createCluster>[0]> = {}) {
    return this.run(
      createCluster({
        site: 's',
        cluster,
        id: this.newId(),
        epoch: this.newId(),
        credential: { id: this.newId(), hash: 'aa' },
        controlPlane: undefined,
        ...more,
      }),
    );
  }

  newId(): string {
    this.#ids += 1;
    return `id-${this.#ids}`;
  }

  reserve(
    cluster: string,
    demand: Partial<Omit<Demand, 'addresses'>> & { uid: string; addresses?: string[] },
    waitUntil?: number,
  ): ReserveAnswer {
    return this.run(reserve({ site: 's', cluster, demand: demandOf(demand), waitUntil }));
  }

  /** Reserves one IPv4 address for the owner and returns it. */
  take(cluster: string, uid: string, demand: Partial<Demand> = {}): string {
    const answer = this.reserve(cluster, { ...demand, uid });
    if (answer.state !== 'held') throw new Error(`${uid} waits`);
    return answer.reservation.addresses.map(({ address }) => address).join(' ');
  }

  /** `used` is the address that the owner uses, at a recovering site. */
  fencingTokenOf(cluster: string, uid: string, used?: string): number {
    const more = used === undefined ? {} : { addresses: [used], inUse: true };
    const answer = this.reserve(cluster, { uid, ...more });
    return answer.state === 'held' ? answer.reservation.fencingToken : -1;
  }

  free(cluster: string, uid: string, more: Partial<FreeRequest> = {}): readonly string[] {
    const request = { site: 's', cluster, uid, fencingToken: undefined, withdrawn: true, ...more };
    return this.run(free(request)).freed;
  }
}

export function demandOf(
  demand: Partial<Omit<Demand, 'addresses'>> & { uid: string; addresses?: string[] },
): Demand {
  const addresses = (demand.addresses ?? []).map(parseAddress);
  return demandSchema.parse({ purpose: 'load-balancer', families: [4], ...demand, addresses });
}

/** Matches a refusal for this reason. */
export function refusal(reason: RefusalReason): Error {
  return expect.objectContaining({ reason }) as Error;
}
