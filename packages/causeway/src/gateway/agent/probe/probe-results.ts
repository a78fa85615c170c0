import type { Address } from '@causeway/base/address/address';

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
  readonly hasAnswered: boolean;
  readonly isSilent: boolean;
  /** The round in which it fell silent. */
  readonly silentSince: number;
  /** Probes in a row that speak against how it is judged now. */
  readonly against: number;
}

// Most are in one of these states, and there are tens of thousands of them: they share the record.
const unheard: Record = { hasAnswered: false, isSilent: false, silentSince: 0, against: 0 };
const answering: Record = { ...unheard, hasAnswered: true };
const fallenSilent = (silentSince: number): Record => ({
  ...answering,
  isSilent: true,
  silentSince,
});

/** Who answers and who has fallen silent, from single probes. */
export class ProbeResults {
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
      this.#records.set(address, isSilent ? fallenSilent(0) : answering);
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
  beginRound(addresses: { has(address: Address): boolean }): boolean {
    this.#round += 1;
    const gone: Address[] = [];
    for (const address of this.#records.keys()) if (!addresses.has(address)) gone.push(address);
    if (gone.length === 0) return false;
    this.#revision += 1;
    const wasCutOff = this.isCutOff;
    const before = this.#silent;
    for (const address of gone) {
      if (this.#records.get(address)?.isSilent === true) this.#silent -= 1;
      this.#records.delete(address);
    }
    return this.#silent !== before || this.isCutOff !== wasCutOff;
  }

  /** Answers whether the judgement on this address has changed, or on ourselves. */
  record(address: Address, answered: boolean): boolean {
    const record = this.#records.get(address) ?? unheard;
    if (answered && !record.hasAnswered) {
      const wasCutOff = this.isCutOff;
      this.#records.set(address, answering);
      this.#revision += 1;
      return wasCutOff;
    }
    const { isSilent } = record;
    const speaksAgainst = isSilent ? answered : !answered && record.hasAnswered;
    const against = speaksAgainst ? record.against + 1 : 0;
    const { fall, rise } = this.#thresholds;
    if (against < (isSilent ? rise : fall)) {
      this.#records.set(address, withAgainst(record, against));
      return false;
    }
    this.#revision += 1;
    this.#records.set(address, isSilent ? answering : fallenSilent(this.#round));
    this.#silent += isSilent ? -1 : 1;
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
    for (const [address, { isSilent, silentSince }] of this.#records) {
      if (isSilent && silentSince < before) silent.add(address);
    }
    return silent;
  }

  /** The round in which somebody fell silent last. */
  #lastFall(): number {
    let last = 0;
    for (const { isSilent, silentSince } of this.#records.values()) {
      if (isSilent) last = Math.max(last, silentSince);
    }
    return last;
  }
}

function withAgainst(record: Record, against: number): Record {
  if (record.against === against) return record;
  // Only who has answered can have anything against it.
  return against === 0 && !record.isSilent ? answering : { ...record, against };
}
