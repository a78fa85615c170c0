import type { Address } from '../../domain/address.ts';

export interface ProbeThresholds {
  /** So many probes in a row without an answer make a destination silent. */
  readonly fall: number;
  /** So many answers in a row bring it back. */
  readonly rise: number;
}

/** What is kept of a ledger over a restart. */
export interface KnownAnswers {
  readonly answered: readonly Address[];
  readonly silent: readonly Address[];
}

interface Record {
  /** Nobody who has never answered can have fallen silent: a firewall may swallow our probes. */
  hasAnswered: boolean;
  isSilent: boolean;
  /** The round in which that was judged last. */
  judgedIn: number;
  /** Probes in a row that speak against how it is judged now. */
  against: number;
}

/** Who answers and who has fallen silent, from single probes. */
export class ProbeLedger {
  readonly #thresholds: ProbeThresholds;
  readonly #records = new Map<Address, Record>();
  #silent = 0;
  #revision = 0;
  #round = 0;

  constructor(thresholds: ProbeThresholds, known?: KnownAnswers) {
    this.#thresholds = thresholds;
    const silent = new Set(known?.silent);
    for (const address of silent.union(new Set(known?.answered))) {
      const isSilent = silent.has(address);
      this.#records.set(address, { hasAnswered: true, isSilent, judgedIn: 0, against: 0 });
      if (isSilent) this.#silent += 1;
    }
  }

  /** Goes up with every change of what is {@link known}. */
  get revision(): number {
    return this.#revision;
  }

  get known(): KnownAnswers {
    const all = [...this.#records];
    return {
      answered: all.filter(([, { hasAnswered }]) => hasAnswered).map(([address]) => address),
      silent: all.filter(([, { isSilent }]) => isSilent).map(([address]) => address),
    };
  }

  /**
   * These are probed from now on; all others are forgotten. Answers whether that changes who is silent,
   * or cuts us off.
   */
  beginRound(addresses: ReadonlySet<Address>): boolean {
    this.#round += 1;
    const gone = [...this.#records].filter(([address]) => !addresses.has(address));
    if (gone.length === 0) return false;
    this.#revision += 1;
    const wasCutOff = this.isCutOff;
    const before = this.#silent;
    for (const [address, record] of gone) {
      if (record.isSilent) this.#silent -= 1;
      this.#records.delete(address);
    }
    return this.#silent !== before || this.isCutOff !== wasCutOff;
  }

  /** Answers whether the judgement on this address has changed, or on ourselves. */
  record(address: Address, answered: boolean): boolean {
    const record = this.#records.get(address) ?? {
      hasAnswered: false,
      isSilent: false,
      judgedIn: this.#round,
      against: 0,
    };
    this.#records.set(address, record);
    if (answered && !record.hasAnswered) {
      const wasCutOff = this.isCutOff;
      record.hasAnswered = true;
      this.#revision += 1;
      return wasCutOff;
    }
    const speaksAgainst = record.isSilent ? answered : !answered && record.hasAnswered;
    record.against = speaksAgainst ? record.against + 1 : 0;
    const { fall, rise } = this.#thresholds;
    if (record.against < (record.isSilent ? rise : fall)) return false;
    this.#revision += 1;
    record.isSilent = !record.isSilent;
    record.judgedIn = this.#round;
    record.against = 0;
    this.#silent += record.isSilent ? 1 : -1;
    return true;
  }

  /** Whether everybody who ever answered is silent now: then it is this gateway that is cut off. */
  get isCutOff(): boolean {
    if (this.#silent < 2) return false;
    for (const record of this.#records.values()) {
      if (record.hasAnswered && !record.isSilent) return false;
    }
    return true;
  }

  /** How many have ever answered, and so can be missed. */
  get heard(): number {
    let count = 0;
    for (const record of this.#records.values()) if (record.hasAnswered) count += 1;
    return count;
  }

  /**
   * Who should get no traffic by what this gateway sees. While it is cut off itself, those who had fallen
   * silent long before all others did: they are no better for it.
   */
  get silent(): Set<Address> {
    const silent = new Set<Address>();
    if (this.#silent === 0) return silent;
    const before = this.isCutOff ? this.#lastFall() - 2 * this.#thresholds.fall : Infinity;
    for (const [address, { isSilent, judgedIn }] of this.#records) {
      if (isSilent && judgedIn < before) silent.add(address);
    }
    return silent;
  }

  /** The round in which somebody fell silent last. */
  #lastFall(): number {
    let last = 0;
    for (const { isSilent, judgedIn } of this.#records.values()) {
      if (isSilent) last = Math.max(last, judgedIn);
    }
    return last;
  }
}
