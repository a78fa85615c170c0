import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { rejectionOf, goesOn, isAnswer, isHeld, isInDoubt, type Rejected } from './rejection.ts';
import { inFamilies, type Holding } from './holding.ts';
import type { Demand, Grant, PoolLedger } from './pool-ledger.ts';

/** Requests reservations from the ledger and keeps the granted ones. */
export class Reservations {
  readonly #ledger: PoolLedger;
  /** The granted demands, by UID. The same demand is not sent twice. */
  readonly #granted = new Map<string, { readonly demand: string; readonly grant: Grant }>();

  constructor(ledger: PoolLedger) {
    this.#ledger = ledger;
  }

  /** Returns the grant, or why there is none. */
  async ask(
    owner: Owner,
    demand: Demand,
    holding: Holding | undefined,
    context: ProviderContext,
  ): Promise<Grant | Rejected> {
    const known = this.#granted.get(owner.uid);
    if (known?.demand === JSON.stringify(demand)) return known.grant;
    try {
      const grant = await this.#ledger.ensure(owner.uid, demand, context.signal);
      if (grant === undefined) return { kind: 'waiting' };
      // A Service keeps its address, but its ports may conflict with another Service of the sharing group.
      if (holding !== undefined && demand.sharingKey !== undefined) {
        const { ports } = demand;
        await this.#ledger.update(owner.uid, grant.fencingToken, { ports }, context.signal);
      }
      this.#note(owner.uid, demand, grant);
      return grant;
    } catch (error) {
      const problem = CausewayError.from(error);
      if (goesOn(problem, holding)) {
        const { message } = problem;
        context.log.warn({ problem: message }, 'the ledger is not reached; nothing changes');
        return holding;
      }
      if (isInDoubt(problem, holding)) {
        const all = await this.#ledger.reservations(context.signal);
        const own = all.find(({ uid }) => uid === owner.uid);
        if (!isHeld(demand.addresses, own)) return { kind: 'lost' };
      }
      const rejection = rejectionOf(problem, holding);
      if (rejection !== undefined) return rejection;
      throw error;
    }
  }

  /**
   * Releases the addresses of families that the Service no longer uses. Nothing changes if the ledger is not
   * reached, or is of a version that can't release single addresses. The controller tries again later.
   */
  async keepOnly(
    uid: string,
    demand: Demand,
    grant: Grant,
    context: ProviderContext,
  ): Promise<Grant> {
    const keeps = inFamilies(grant.addresses, demand.families).map(({ address }) => address);
    try {
      const left = await this.#ledger.update(uid, grant.fencingToken, { keeps }, context.signal);
      this.#note(uid, demand, left);
      return left;
    } catch (error) {
      const problem = CausewayError.from(error);
      if (isAnswer(problem)) throw error;
      const { message } = problem;
      context.log.warn(
        { problem: message },
        'the ledger is not reached; an address is released later',
      );
      return grant;
    }
  }

  /** The fencing token of the last known grant. */
  fencingTokenOf(uid: string): number | undefined {
    return this.#granted.get(uid)?.grant.fencingToken;
  }

  drop(uid: string): void {
    this.#granted.delete(uid);
  }

  /** Earlier answers of the ledger may be outdated. */
  dropAll(): void {
    this.#granted.clear();
  }

  /**
   * Requesting the granted addresses by name is the same demand. A recovering ledger grants only used
   * addresses.
   */
  #note(uid: string, demand: Demand, grant: Grant): void {
    const addresses = inFamilies(grant.addresses, demand.families).map(({ address }) => address);
    if (addresses.length < demand.families.length) return;
    const again = JSON.stringify({ ...demand, addresses, inUse: true });
    this.#granted.set(uid, { demand: again, grant });
  }
}
