import { familyOf, type Address, type Family } from '@causeway/base/address/address';

export interface ProbeThresholds {
  /** Number of failed probes in a row that make a backend unhealthy. */
  readonly fall: number;
  /** Number of answered probes in a row that make it healthy again. */
  readonly rise: number;
}

/** The probe results that are kept over a restart. */
export interface KnownAnswers {
  readonly answered: readonly Address[];
  readonly unhealthy: readonly Address[];
}

interface Record {
  /** A backend that has never answered can't become unhealthy, because a firewall may drop the probes. */
  readonly hasAnswered: boolean;
  readonly isUnhealthy: boolean;
  /** The round in which it became unhealthy. */
  readonly unhealthySince: number;
  /** Number of probes in a row that contradict the current state. */
  readonly against: number;
}

// Most backends are in one of these states, and there are tens of thousands: they share the record.
const unheard: Record = { hasAnswered: false, isUnhealthy: false, unhealthySince: 0, against: 0 };
const answering: Record = { ...unheard, hasAnswered: true };
const becomeUnhealthy = (unhealthySince: number): Record => ({
  ...answering,
  isUnhealthy: true,
  unhealthySince,
});

/** Determines from single probes which backends are healthy. */
export class ProbeResults {
  readonly #thresholds: ProbeThresholds;
  readonly #records = new Map<Address, Record>();
  #unhealthy = 0;
  #revision = 0;
  #round = 0;

  constructor(thresholds: ProbeThresholds, known?: KnownAnswers) {
    this.#thresholds = thresholds;
    const unhealthy = new Set(known?.unhealthy);
    for (const address of unhealthy.union(new Set(known?.answered))) {
      const isUnhealthy = unhealthy.has(address);
      this.#records.set(address, isUnhealthy ? becomeUnhealthy(0) : answering);
      if (isUnhealthy) this.#unhealthy += 1;
    }
  }

  /** Increases with every change of {@link known}. */
  get revision(): number {
    return this.#revision;
  }

  get known(): KnownAnswers {
    const all = [...this.#records];
    return {
      answered: all.filter(([, { hasAnswered }]) => hasAnswered).map(([address]) => address),
      unhealthy: all.filter(([, { isUnhealthy }]) => isUnhealthy).map(([address]) => address),
    };
  }

  /**
   * Probes exactly these from now on, and drops all other records. Returns whether this changes the unhealthy
   * backends or the cut-off state.
   */
  beginRound(addresses: { has(address: Address): boolean }): boolean {
    this.#round += 1;
    const gone: Address[] = [];
    for (const address of this.#records.keys()) if (!addresses.has(address)) gone.push(address);
    if (gone.length === 0) return false;
    this.#revision += 1;
    const wasCutOff = this.cutOff;
    const before = this.#unhealthy;
    for (const address of gone) {
      if (this.#records.get(address)?.isUnhealthy === true) this.#unhealthy -= 1;
      this.#records.delete(address);
    }
    return this.#unhealthy !== before || this.cutOff.length !== wasCutOff.length;
  }

  /** Returns whether the state of this backend or the cut-off state has changed. */
  record(address: Address, answered: boolean): boolean {
    const record = this.#records.get(address) ?? unheard;
    if (answered && !record.hasAnswered) {
      const wasCutOff = this.cutOff.includes(familyOf(address));
      this.#records.set(address, answering);
      this.#revision += 1;
      return wasCutOff;
    }
    const { isUnhealthy } = record;
    const speaksAgainst = isUnhealthy ? answered : !answered && record.hasAnswered;
    const against = speaksAgainst ? record.against + 1 : 0;
    const { fall, rise } = this.#thresholds;
    if (against < (isUnhealthy ? rise : fall)) {
      this.#records.set(address, withAgainst(record, against));
      return false;
    }
    this.#revision += 1;
    this.#records.set(address, isUnhealthy ? answering : becomeUnhealthy(this.#round));
    this.#unhealthy += isUnhealthy ? -1 : 1;
    return true;
  }

  /**
   * The families in which every backend that has ever answered is unhealthy, if there are two or more. The
   * cause is then this gateway's own connection, such as a lost route.
   */
  get cutOff(): Family[] {
    if (this.#unhealthy < 2) return [];
    const unhealthy = new Map<Family, number>();
    const reached = new Set<Family>();
    for (const [address, { hasAnswered, isUnhealthy }] of this.#records) {
      const family = familyOf(address);
      if (isUnhealthy) unhealthy.set(family, (unhealthy.get(family) ?? 0) + 1);
      else if (hasAnswered) reached.add(family);
    }
    const isCutOff = (family: Family) => !reached.has(family) && (unhealthy.get(family) ?? 0) >= 2;
    return ([4, 6] as const).filter(isCutOff);
  }

  /** Number of backends that have ever answered, and so can become unhealthy. */
  get heard(): number {
    let count = 0;
    for (const record of this.#records.values()) if (record.hasAnswered) count += 1;
    return count;
  }

  /**
   * The backends that get no connections, as this gateway sees them. In a family in which the gateway is cut
   * off, only the backends count that were unhealthy long before the others.
   */
  get unhealthy(): Set<Address> {
    const unhealthy = new Set<Address>();
    if (this.#unhealthy === 0) return unhealthy;
    const cutOffSince = new Map(this.cutOff.map((family) => [family, this.#lastFall(family)]));
    for (const [address, { isUnhealthy, unhealthySince }] of this.#records) {
      const since = cutOffSince.get(familyOf(address)) ?? Infinity;
      if (isUnhealthy && unhealthySince < since - 2 * this.#thresholds.fall) unhealthy.add(address);
    }
    return unhealthy;
  }

  /** The round in which a backend of the family became unhealthy last. */
  #lastFall(family: Family): number {
    let last = 0;
    for (const [address, { isUnhealthy, unhealthySince }] of this.#records) {
      if (isUnhealthy && familyOf(address) === family) last = Math.max(last, unhealthySince);
    }
    return last;
  }
}

function withAgainst(record: Record, against: number): Record {
  if (record.against === against) return record;
  // Only a backend that has answered can have contradicting probes.
  return against === 0 && !record.isUnhealthy ? answering : { ...record, against };
}
