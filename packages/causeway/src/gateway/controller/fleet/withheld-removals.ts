import type { WithheldRecord } from '../../protocol/acknowledgement.ts';
import { frontendKey, type FrontendId, type FrontendKey } from '../../protocol/frontend.ts';
import { frontendIdOf } from '../../protocol/records.ts';

/** A frontend that a gateway serves although it is no longer in the desired state. */
export interface WithheldFrontend extends FrontendId {
  /** `namespace/name` of its Service, if known. */
  readonly service?: string | undefined;
}

/** The result of the verification of withheld removals. */
export interface RemovalVerdict {
  /** The UID of the cluster of the API server. */
  readonly cluster: string | undefined;
  readonly verified: ReadonlySet<FrontendKey>;
  /** Why the others are not verified. */
  readonly doubts: ReadonlyMap<FrontendKey, string>;
}

const notYet = 'the removal is not verified yet';

/**
 * The removals that one gateway withholds, with the verdict on each. An agent of an older version rejects the
 * whole update instead: then these are the frontends that it refuses to remove.
 */
export class WithheldRemovals {
  #frontends: ReadonlyMap<FrontendKey, WithheldFrontend> = new Map();
  readonly #verified = new Set<FrontendKey>();
  readonly #doubts = new Map<FrontendKey, string>();
  #cluster: string | undefined;
  #isRejection = false;

  get frontends(): ReadonlyMap<FrontendKey, WithheldFrontend> {
    return this.#frontends;
  }

  /** Whether the agent rejects updates because of them. */
  get isRejection(): boolean {
    return this.#isRejection;
  }

  /** Whether some have no verdict. */
  get needsVerdict(): boolean {
    return [...this.#frontends.keys()].some(
      (key) => !this.#verified.has(key) && !this.#doubts.has(key),
    );
  }

  /** Takes the withheld removals that the gateway reports. Returns those that it no longer withholds. */
  take(records: readonly WithheldRecord[]): ReadonlyMap<FrontendKey, WithheldFrontend> {
    return this.#replace(records.flatMap(frontendOf), false);
  }

  /** Takes the frontends that an agent of an older version refuses to remove. */
  reject(frontends: readonly WithheldFrontend[]): void {
    this.#replace(frontends, true);
  }

  judge({ cluster, verified, doubts }: RemovalVerdict): void {
    this.#cluster = cluster;
    for (const key of this.#frontends.keys()) {
      const doubt = doubts.get(key);
      if (doubt !== undefined) this.doubt(key, doubt);
      else if (verified.has(key)) {
        this.#verified.add(key);
        this.#doubts.delete(key);
      }
    }
  }

  doubt(key: FrontendKey, why: string): void {
    this.#verified.delete(key);
    this.#doubts.set(key, why);
  }

  /** The removals that can be confirmed now. A verdict is valid for one confirmation. */
  confirmable(isWanted: (key: FrontendKey) => boolean) {
    if (this.#isRejection) return undefined;
    const frontends = new Set([...this.#verified].filter((key) => !isWanted(key)));
    return frontends.size === 0 ? undefined : { cluster: this.#cluster, frontends };
  }

  /** Whether all frontends that an agent of an older version refuses to remove are verified. */
  isRejectionVerified(isWanted: (key: FrontendKey) => boolean): boolean {
    const lost = [...this.#frontends.keys()].filter((key) => !isWanted(key));
    return this.#isRejection && lost.length > 0 && lost.every((key) => this.#verified.has(key));
  }

  /** Called after a confirmation was sent or has failed: the next one needs a new verdict. */
  forgetVerdicts(): void {
    this.#verified.clear();
  }

  /** One line for operators; undefined if nothing is withheld. */
  describe(): string | undefined {
    const [first] = this.#frontends.keys();
    if (first === undefined) return undefined;
    const [doubted, why] = [...this.#doubts][0] ?? [first, notYet];
    const many = this.#frontends.size === 1 ? 'frontend' : 'frontends';
    return `still serves ${this.#frontends.size} ${many} that the cluster no longer wants; ${doubted}: ${why}`;
  }

  #replace(
    frontends: readonly WithheldFrontend[],
    isRejection: boolean,
  ): ReadonlyMap<FrontendKey, WithheldFrontend> {
    const before = this.#frontends;
    const next = new Map(frontends.map((each) => [frontendKey(each), each]));
    const gone = new Map([...before].filter(([key]) => !next.has(key)));
    this.#frontends = next;
    this.#isRejection = isRejection;
    for (const key of gone.keys()) {
      this.#verified.delete(key);
      this.#doubts.delete(key);
    }
    return gone;
  }
}

function frontendOf(record: WithheldRecord): WithheldFrontend[] {
  const id = frontendIdOf(record);
  return id === undefined ? [] : [{ ...id, service: record.service }];
}
