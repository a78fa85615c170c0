import type { FrontendErrors } from '../../protocol/acknowledgement.ts';
import { frontendKey, type FrontendKey } from '../../protocol/frontend.ts';
import { parseFrontendId } from '../../protocol/records.ts';

/** A gateway's rejections of frontends, kept until the next update of these frontends. */
export class Rejections {
  readonly #byFrontend = new Map<FrontendKey, readonly string[]>();
  #general: readonly string[] = [];

  /** The number of rejected frontends. */
  get size(): number {
    return this.#byFrontend.size;
  }

  /** Problems without a frontend, such as an unreadable policy. */
  get general(): readonly string[] {
    return this.#general;
  }

  all(): Iterable<readonly [FrontendKey, readonly string[]]> {
    return this.#byFrontend;
  }

  about(key: FrontendKey): readonly string[] {
    return this.#byFrontend.get(key) ?? [];
  }

  /**
   * Takes the answer to a push of these frontends, or of all by default. Earlier rejections of other
   * frontends stay. Returns the frontends with a changed state.
   */
  take(
    errors: readonly FrontendErrors[],
    touched: ReadonlySet<FrontendKey> | undefined,
  ): ReadonlySet<FrontendKey> {
    const before = new Map(this.#byFrontend);
    if (touched === undefined) this.#byFrontend.clear();
    else for (const key of touched) this.#byFrontend.delete(key);
    this.#general = [];
    for (const { frontend, errors: lines } of errors) {
      const messages = lines.map(({ message }) => message);
      if (frontend === null) this.#general = messages;
      else this.#byFrontend.set(frontendKey(parseFrontendId(frontend)), messages);
    }
    const changed = new Set<FrontendKey>();
    for (const key of new Set([...before.keys(), ...this.#byFrontend.keys()])) {
      if (before.get(key)?.join() !== this.#byFrontend.get(key)?.join()) changed.add(key);
    }
    return changed;
  }
}
