import { CausewayError } from '@causeway/base/error/causeway-error';
import type { Owner, ProviderContext } from '../services/provider.ts';
import { rejectionOf, goesOn, isAnswer, isHeld, isInDoubt, type Rejected } from './rejection.ts';
import { inFamilies, type Holding } from './holding.ts';
import type { Demand, Grant, PoolLedger } from './pool-ledger.ts';

/** What the ledger grants to Services, and has granted. */
export class Reservations {
  readonly #ledger: PoolLedger;
  /** What was granted for which demand, by UID: the ledger isn't asked twice for the same. */
  readonly #granted = new Map<string, { readonly demand: string; readonly grant: Grant }>();

  constructor(ledger: PoolLedger) {
    this.#ledger = ledger;
  }

  /** What the ledger grants, or why it doesn't. */
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
      // Who has an address keeps it, but its ports may have come to clash with another sharer's.
      if (holding !== undefined && demand.sharingKey !== undefined) {
        const { ports } = demand;
        await this.#ledger.update(owner.uid, grant.fence, { ports }, context.signal);
      }
      this.#note(owner.uid, demand, grant);
      return grant;
    } catch (error) {
      const problem = CausewayError.from(error);
      if (goesOn(problem, holding)) {
        const { message } = problem;
        context.log.warn({ problem: message }, 'the ledger is not reached; all stays as it is');
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
   * The Service has given up families that it had: their addresses go back. All stays as it is where
   * the ledger isn't reached, or is of a version that can't take one back: it is asked again later.
   */
  async keepOnly(
    uid: string,
    demand: Demand,
    grant: Grant,
    context: ProviderContext,
  ): Promise<Grant> {
    const keeps = inFamilies(grant.addresses, demand.families).map(({ address }) => address);
    try {
      const left = await this.#ledger.update(uid, grant.fence, { keeps }, context.signal);
      this.#note(uid, demand, left);
      return left;
    } catch (error) {
      const problem = CausewayError.from(error);
      if (isAnswer(problem)) throw error;
      const { message } = problem;
      context.log.warn(
        { problem: message },
        'the ledger is not reached; an address is given back later',
      );
      return grant;
    }
  }

  /** Under which it was granted something, as far as is remembered. */
  fenceOf(uid: string): number | undefined {
    return this.#granted.get(uid)?.grant.fence;
  }

  forget(uid: string): void {
    this.#granted.delete(uid);
  }

  /** What the ledger said before may no longer hold. */
  forgetAll(): void {
    this.#granted.clear();
  }

  /** Asking again by the name of what it got is the same demand. A ledger that recovers grants no more than is claimed. */
  #note(uid: string, demand: Demand, grant: Grant): void {
    const addresses = inFamilies(grant.addresses, demand.families).map(({ address }) => address);
    if (addresses.length < demand.families.length) return;
    const again = JSON.stringify({ ...demand, addresses, claim: true });
    this.#granted.set(uid, { demand: again, grant });
  }
}
